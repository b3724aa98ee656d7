import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { resultGraphs } from '../parts/requests.ts';
import { q } from './queries.ts';

export const requests: Row = {
  title: 'Requests',
  panels: [
    ...resultGraphs(q, {
      outcome:
        'What became of the requests. upstream_error, upstream_unavailable and timeout are failures of upstreams; rejected is refused by the gateway.',
      status: 'Statuses that callers got. An empty status: the caller left before the response.',
      grpc: 'gRPC statuses with which gRPC calls ended; the status of HTTP is 200. 2, 4, 12, 13, 14 and 15: the server failed.',
      code: 'Errors that the gateway itself answered, by code. docs/use/failure-modes.md says for each code who should act.',
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
