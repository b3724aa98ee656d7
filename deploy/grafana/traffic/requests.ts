import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { REQUESTS } from '../parts/requests.ts';
import { q } from './queries.ts';

export const requests: Row = {
  title: 'Requests',
  panels: [
    graph({
      title: 'Requests by outcome',
      description:
        'What became of the requests. upstream_error, upstream_unavailable and timeout are failures of upstreams; rejected is refused by the gateway.',
      unit: units.RequestsPerSecond,
      queries: [q.perSecond(REQUESTS, { by: ['outcome'] })],
      stacked: true,
    }),
    graph({
      title: 'Responses by status',
      description:
        'Statuses that callers got. An empty status: the caller left before the response.',
      unit: units.RequestsPerSecond,
      queries: [q.perSecond(REQUESTS, { by: ['status'] })],
      stacked: true,
    }),
    graph({
      title: 'Error codes',
      description:
        'Errors that the gateway itself answered, by code. docs/use/failure-modes.md says for each code who should act.',
      unit: units.RequestsPerSecond,
      queries: [q.perSecond(REQUESTS, { by: ['code'], where: ['code!=""'] })],
    }),
    graph({
      title: 'Requests shed',
      description:
        'Requests that were refused because the data plane is at one of its limits. Above zero: add data planes, or raise that limit.',
      unit: units.Short,
      queries: [q.increase('gateway_requests_shed_total', { by: ['reason'] })],
      alerts: ['GatewayRequestsShed'],
    }),
  ],
};
