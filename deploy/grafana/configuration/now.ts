import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { figure } from '../parts/panel.ts';
import { Queries } from '../parts/query.ts';
import { q } from './queries.ts';

/** Differences between the planes are not filtered by process. */
const all = new Queries([]);
/** A control plane that has published nothing since its start has no version. */
const newest = `max by (environment) (${all.series('gateway_control_plane_published_version')} or ${all.series('gateway_config_version')})`;
const oldest = all.gauge('min', 'gateway_config_version', { by: ['environment'] }).expr;

export const now: Row = {
  title: 'Now',
  panels: [
    figure({
      title: 'Live data planes',
      description:
        'As the control planes see them. Fewer than you run: one does not send heartbeats.',
      unit: units.Short,
      queries: [q.gauge('max', 'gateway_control_plane_live_data_planes')],
    }),
    figure({
      title: 'Changes not published',
      description:
        'Changes that wait in the outbox. Above zero for a minute: changes do not reach the data planes.',
      unit: units.Short,
      queries: [q.gauge('max', 'gateway_control_plane_outbox_pending')],
      alerts: ['GatewayChangesNotPublished'],
    }),
    figure({
      title: 'Versions behind',
      description:
        'How far the last data plane is behind what was published, by environment. Above zero for long: a data plane keeps an old configuration.',
      unit: units.Short,
      queries: [{ expr: `${newest} - ${oldest}`, legend: '{{environment}}' }],
      alerts: ['GatewayDataPlaneBehind'],
      width: 8,
    }),
    figure({
      title: 'Not connected',
      description:
        'Data planes to which NATS delivers no changes. Above zero: they serve the last configuration that they have.',
      unit: units.Short,
      queries: [
        {
          expr: `count(${q.gauge('min', 'gateway_config_connected', { by: ['instance'] }).expr} == 0) or ${q.gauge('max', 'gateway_config_connected').expr} * 0`,
          legend: 'not connected',
        },
      ],
    }),
    figure({
      title: 'Writes that wait',
      description: 'Management calls with Prefer: wait. They rise while a data plane is behind.',
      unit: units.Short,
      queries: [q.gauge('sum', 'gateway_control_plane_waiting')],
    }),
  ],
};
