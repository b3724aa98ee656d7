import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { q } from './queries.ts';

export const publishing: Row = {
  title: 'Publishing and heartbeats',
  panels: [
    graph({
      title: 'Failed publications',
      description:
        'Each is retried. Above zero: NATS is down or refuses the control plane; its log has the error.',
      unit: units.Short,
      queries: [q.increase('gateway_control_plane_publish_failures_total', { by: ['instance'] })],
      alerts: ['GatewayPublishingFails'],
    }),
    graph({
      title: 'Time from a change to its publication',
      description: 'High: the control plane is busy with large snapshots, or Postgres is slow.',
      unit: units.Seconds,
      queries: q.percentiles('gateway_control_plane_publish_lag_seconds'),
    }),
    graph({
      title: 'Time to compile and publish',
      description:
        'Mean by form. Snapshots take longer than deltas; they are high with very many routes.',
      unit: units.Seconds,
      queries: [q.mean('gateway_control_plane_publish_duration_seconds', { by: ['form'] })],
    }),
    graph({
      title: 'Heartbeats that failed',
      description:
        'Above zero: NATS does not store the heartbeats of a data plane, or a control plane refuses them.',
      unit: units.Short,
      queries: [
        q.increase('gateway_heartbeat_failures_total', { by: ['instance'] }),
        q.increase('gateway_control_plane_heartbeats_refused_total', {
          by: ['instance'],
          legend: 'refused by {{instance}}',
        }),
      ],
      alerts: ['GatewayHeartbeatsFail'],
    }),
    graph({
      title: 'Services that heartbeats leave out',
      description:
        'Services whose health did not fit into a heartbeat. Above zero: the API does not show their health.',
      unit: units.Short,
      queries: [q.gauge('max', 'gateway_heartbeat_unreported_services', { by: ['instance'] })],
      alerts: ['GatewayHealthNotReported'],
    }),
  ],
};
