import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { q } from './queries.ts';

const [, p95] = q.percentiles('gateway_upstream_attempt_seconds', { by: ['service', 'version'] });

export const load: Row = {
  title: 'Load',
  panels: [
    graph({
      title: 'Attempts of upstreams, 95th percentile',
      description:
        'Time until an upstream begins to respond, or until the attempt fails, by service and version. One line that rises: that service or version is slow.',
      unit: units.Seconds,
      queries: p95 === undefined ? [] : [p95],
    }),
    graph({
      title: 'Refused because a service is at a limit',
      description:
        'By service and limit. Above zero: the service is slow, or its limits are too low for its callers.',
      unit: units.Short,
      queries: [q.increase('gateway_upstream_overloaded_total', { by: ['name', 'reason'] })],
      alerts: ['GatewayServiceOverloaded'],
    }),
    graph({
      title: 'Connections to upstreams',
      description:
        'By protocol, the requests that those of HTTP/2 carry, and the connections of HTTP/2 that ended before their time. Many that end: an upstream breaks the protocol or does not answer, or callers cancel many requests (HTTP2_RESETS).',
      unit: units.Short,
      queries: [
        q.gauge('sum', 'gateway_upstream_connections', { by: ['protocol'] }),
        q.gauge('sum', 'gateway_upstream_streams', { legend: 'requests over http2' }),
        q.increase('gateway_upstream_connections_ended_total', {
          by: ['reason'],
          legend: 'ended: {{reason}}',
        }),
      ],
    }),
    graph({
      title: 'Adaptive limits',
      description:
        'Requests that wait for a response, and the limit that was found. Waiting at the limit: the service needs more capacity.',
      unit: units.Short,
      queries: [
        q.gauge('min', 'gateway_service_adaptive_limit', {
          by: ['name'],
          legend: 'limit {{name}}',
        }),
        q.gauge('max', 'gateway_service_waiting_requests', {
          by: ['name'],
          legend: 'waiting {{name}}',
        }),
      ],
    }),
  ],
};
