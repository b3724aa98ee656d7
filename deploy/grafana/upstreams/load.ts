import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { q } from './queries.ts';

export const load: Row = {
  title: 'Load',
  panels: [
    graph({
      title: 'Refused because a service is at a limit',
      description:
        'By service and limit. Above zero: the service is slow, or its limits are too low for its callers.',
      unit: units.Short,
      queries: [q.increase('gateway_upstream_overloaded_total', { by: ['service', 'reason'] })],
      alerts: ['GatewayServiceOverloaded'],
    }),
    graph({
      title: 'Adaptive limits',
      description:
        'Requests that wait for a response, and the limit that was found. Waiting at the limit: the service needs more capacity.',
      unit: units.Short,
      queries: [
        q.gauge('min', 'gateway_service_adaptive_limit', {
          by: ['service'],
          legend: 'limit {{service}}',
        }),
        q.gauge('max', 'gateway_service_waiting_requests', {
          by: ['service'],
          legend: 'waiting {{service}}',
        }),
      ],
    }),
  ],
};
