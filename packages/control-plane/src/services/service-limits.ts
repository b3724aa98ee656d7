import { z } from 'zod';
import { integerField, objectField } from '../fields/fields.ts';

const MAX_REQUESTS = 1_000_000;
const MAX_CONNECTIONS = 65_535;

/**
 * The bounds of a service in each data plane, so that one slow service does not use up what the others need. null: the
 * bound follows from the settings of the data plane.
 */
export const limitsField = objectField({
  max_in_flight: integerField(1, MAX_REQUESTS)
    .nullable()
    .default(null)
    .meta({
      examples: [200],
      description:
        'Requests at one time in each data plane, and as many WebSockets. null: half of MAX_IN_FLIGHT_REQUESTS and of MAX_WEBSOCKETS, or all of them if no other service is registered, in any environment.',
    }),
  max_connections: integerField(1, MAX_CONNECTIONS)
    .nullable()
    .default(null)
    .meta({
      examples: [64],
      description:
        'Connections of each data plane to each upstream. null, or more than MAX_UPSTREAM_CONNECTIONS of the data plane: that setting.',
    }),
  max_pending: integerField(0, MAX_REQUESTS)
    .nullable()
    .default(null)
    .meta({
      examples: [100],
      description:
        'Requests that wait in each data plane for a connection to each upstream. null: twice the number of connections, but at least 100.',
    }),
  adaptive: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .meta({
      description: 'Whether each data plane lowers the limit of requests while latency rises.',
      examples: [false],
    }),
}).meta({
  description:
    'The limits of the service in each data plane. They keep a slow service from using up what the others need.',
});
