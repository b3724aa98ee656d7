import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { figure } from '../parts/panel.ts';
import { failedPart, refusedPart, REQUESTS } from '../parts/requests.ts';
import { q } from './queries.ts';

export const now: Row = {
  title: 'Now',
  panels: [
    figure({
      title: 'Requests',
      description:
        'Requests of all routes. A sudden fall means that callers do not reach the gateway.',
      unit: units.RequestsPerSecond,
      queries: [q.perSecond(REQUESTS)],
    }),
    figure({
      title: 'Failed',
      description:
        'The part of the requests that failed at an upstream: errors, timeouts, no connection. High: look at the upstreams.',
      unit: units.PercentUnit,
      queries: [failedPart(q)],
    }),
    figure({
      title: 'Refused',
      description:
        'The part of the requests that the gateway refused. High: look at the error codes below; a quota or a limit is reached, or a caller has a wrong token.',
      unit: units.PercentUnit,
      queries: [refusedPart(q)],
    }),
    figure({
      title: 'In flight',
      description: 'Requests that have no response yet. It rises when upstreams get slow.',
      unit: units.Short,
      queries: [q.gauge('sum', 'gateway_requests_in_flight')],
    }),
    figure({
      title: 'Connections',
      description:
        'Open connections of callers. If it nears MAX_CONNECTIONS of the data planes, new ones are closed.',
      unit: units.Short,
      queries: [q.gauge('sum', 'gateway_connections')],
    }),
    figure({
      title: 'Data planes',
      description: 'Live data planes as the data planes see them. Fewer than you run: one is down.',
      unit: units.Short,
      queries: [q.gauge('max', 'gateway_live_data_planes')],
    }),
  ],
};
