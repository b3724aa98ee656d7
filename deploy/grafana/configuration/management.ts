import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { q } from './queries.ts';

export const management: Row = {
  title: 'Management API',
  panels: [
    graph({
      title: 'Management calls by status',
      description:
        '5xx: Postgres or NATS is down. 429: a token or an address is above its rate. 0: the client left.',
      unit: units.RequestsPerSecond,
      queries: [q.perSecond('gateway_control_plane_http_requests_total', { by: ['status'] })],
      stacked: true,
    }),
    graph({
      title: 'Duration of management calls',
      description: 'High: Postgres is slow, or many searches of records run.',
      unit: units.Seconds,
      queries: q.percentiles('gateway_control_plane_http_request_duration_seconds'),
    }),
    graph({
      title: 'Refused before they were calls',
      description:
        'Malformed or slow requests, and connections above the limit. Many: a broken client or an attack.',
      unit: units.Short,
      queries: [q.increase('gateway_control_plane_http_refused_total', { by: ['reason'] })],
    }),
  ],
};
