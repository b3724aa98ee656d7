import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { q } from './queries.ts';

export const rollout: Row = {
  title: 'Data planes',
  panels: [
    graph({
      title: 'Version that each data plane serves',
      description:
        'Lines that stay apart: a data plane is behind. GET /v1/data-planes has its last error.',
      unit: units.Short,
      queries: [
        q.gauge('min', 'gateway_config_version', { by: ['environment', 'instance'] }),
        q.gauge('max', 'gateway_control_plane_published_version', {
          by: ['environment'],
          legend: '{{environment}} published',
        }),
      ],
    }),
    graph({
      title: 'Refused configurations',
      description:
        'The data plane keeps the old configuration. Above zero: keys differ, or the data plane is older than the control plane.',
      unit: units.Short,
      queries: [q.increase('gateway_config_refused_total', { by: ['reason'] })],
      alerts: ['GatewayConfigurationRefused'],
    }),
    graph({
      title: 'Unusable configuration',
      description:
        'Routes, services and tokens that a data plane leaves out. Callers of such routes get 503 route_unusable.',
      unit: units.Short,
      queries: [q.gauge('max', 'gateway_config_unusable', { by: ['environment', 'kind'] })],
      alerts: ['GatewayConfigurationUnusable'],
    }),
    graph({
      title: 'Changes applied',
      description:
        'Deltas are small changes; a gap means that deltas were missed and a snapshot was requested. Many gaps: NATS loses messages or is slow.',
      unit: units.Short,
      queries: [
        q.increase('gateway_config_deltas_total', { legend: 'deltas' }),
        q.increase('gateway_config_gaps_total', { legend: 'gaps' }),
        q.increase('gateway_config_fetch_failures_total', { legend: 'failed downloads' }),
        q.increase('gateway_config_last_good_failures_total', {
          legend: 'failed writes of the last-good file',
        }),
      ],
    }),
    graph({
      title: 'Time until a change is served',
      description:
        'In the data plane, from its arrival. High: the configuration is large, or the process has too little CPU time.',
      unit: units.Seconds,
      queries: q.percentiles('gateway_config_apply_seconds'),
    }),
    graph({
      title: 'Event loop held by a delta',
      description: 'Requests wait for this time. High: the environment has very many routes.',
      unit: units.Seconds,
      queries: q.percentiles('gateway_config_delta_loop_seconds'),
    }),
    graph({
      title: 'Writes that waited, by result',
      description:
        'Management calls with Prefer: wait. Others than applied: a data plane did not report in time.',
      unit: units.Short,
      queries: [q.increase('gateway_control_plane_waits_total', { by: ['result'] })],
    }),
  ],
};
