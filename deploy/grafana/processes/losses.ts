import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { q } from './queries.ts';

export const losses: Row = {
  title: 'Limits of the process',
  panels: [
    graph({
      title: 'Connections without a worker',
      description:
        'Closed before a worker accepted them. no_open_files: the limit on open files of a worker is too low. not accepted: that of the process, or its memory.',
      unit: units.Short,
      queries: [
        q.increase('gateway_connections_unassigned_total', { by: ['reason'] }),
        q.increase('gateway_connections_not_accepted_total', {
          by: ['instance'],
          legend: 'not accepted {{instance}}',
        }),
      ],
      alerts: ['GatewayNoOpenFiles'],
    }),
    graph({
      title: 'Log lines dropped',
      description:
        'Above zero: the log cannot be written fast enough, or its disk is full. Failed writes are repeated.',
      unit: units.Short,
      queries: [
        q.increase('gateway_log_lines_dropped_total', { by: ['instance'] }),
        q.increase('gateway_log_write_failures_total', {
          by: ['instance'],
          legend: 'failed writes {{instance}}',
        }),
      ],
      alerts: ['GatewayLogLinesDropped'],
    }),
    graph({
      title: 'Counters dropped',
      description:
        'Of quotas, addresses or tokens. Above zero: there are more of them than are counted at a time.',
      unit: units.Short,
      queries: [q.increase('gateway_dropped_counters_total', { by: ['store'] })],
      alerts: ['GatewayCountersDropped'],
    }),
  ],
};
