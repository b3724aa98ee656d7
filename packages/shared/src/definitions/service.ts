import { booleanField, displayNameField, integerField, objectField } from './fields.ts';
import { healthCheckField, pathField } from './service-health-check.ts';
import { upstreamProtocolField, websocketProtocolField } from './service-protocol.ts';

const MAX_REQUESTS = 1_000_000;
const MAX_CONNECTIONS = 65_535;

/**
 * The bounds of a service in each data plane, so that one slow service does not use up what the others need. null: the
 * bound follows from the settings of the data plane.
 */
const limitsField = objectField({
  max_in_flight: integerField(1, MAX_REQUESTS)
    .nullable()
    .default(null)
    .meta({
      title: 'Concurrent requests',
      examples: [200],
      description:
        'Requests at one time in each data plane, and as many WebSockets. null: half of MAX_IN_FLIGHT_REQUESTS and of MAX_WEBSOCKETS, or all of them if no other service is registered, in any environment.',
    }),
  max_connections: integerField(1, MAX_CONNECTIONS)
    .nullable()
    .default(null)
    .meta({
      title: 'Connections',
      examples: [64],
      description:
        'Connections of each data plane to each upstream, at most MAX_UPSTREAM_CONNECTIONS of the data plane. null: MAX_UPSTREAM_CONNECTIONS.',
    }),
  max_pending: integerField(0, MAX_REQUESTS)
    .nullable()
    .default(null)
    .meta({
      title: 'Waiting requests',
      examples: [100],
      description:
        'Requests that wait in each data plane for a connection to each upstream. null: twice the number of connections, but at least 100.',
    }),
  adaptive: booleanField()
    .default(false)
    .meta({
      title: 'Adaptive',
      description: 'Whether each data plane lowers the limit of requests while latency rises.',
      examples: [false],
    }),
}).meta({
  title: 'Limits in each data plane',
  description:
    'The limits of the service in each data plane. They keep a slow service from using up what the others need.',
});

/**
 * The settings of a service that are stored as they are in the body, defined as those of a route are (`route.ts`). The
 * others are its upstreams, and what has a secret: its credential and its TLS settings.
 */
export const serviceFields = {
  name: displayNameField.meta({
    title: 'Name',
    description: 'The name of the service, unique in its environment.',
    examples: ['payments'],
  }),
  health_path: pathField.default('/healthz').meta({
    title: 'Path',
    description:
      'The path of the health check: a `GET` at the host of each upstream, without a credential. A status from 200 to 299 is healthy.',
    examples: ['/healthz'],
  }),
  health_check: healthCheckField.prefault({}),
  limits: limitsField.prefault({}),
  protocol: upstreamProtocolField,
  websocket_protocol: websocketProtocolField,
  send_via: booleanField()
    .default(false)
    .meta({
      title: 'Via',
      description:
        'Whether the gateway names itself in `Via` to the upstreams. Some servers, such as nginx, do not compress responses to requests with `Via`.',
      examples: [false],
    }),
};
