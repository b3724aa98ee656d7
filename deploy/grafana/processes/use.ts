import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { BY_PROCESS, q } from './queries.ts';

export const use: Row = {
  title: 'CPU, memory and files',
  panels: [
    graph({
      title: 'CPU',
      description:
        'Cores in use. A process uses one core for requests; near 1 it is at its limit: add data planes or workers.',
      unit: units.Short,
      queries: [q.perSecond('process_cpu_seconds_total', { by: BY_PROCESS })],
    }),
    graph({
      title: 'Delay of the event loop, 99th percentile',
      description:
        'Stalls up to 10 ms are normal. Above 0.25 s: the machine has no CPU time left, or garbage collections take too long.',
      unit: units.Seconds,
      queries: q.percentiles('gateway_event_loop_delay_seconds', { by: BY_PROCESS }).slice(-1),
      alerts: ['GatewayEventLoopBlocked'],
    }),
    graph({
      title: 'Resident memory',
      description:
        'It follows connections, records that wait and bodies. Steady growth at a steady load is a leak.',
      unit: units.BytesIEC,
      queries: [q.gauge('sum', 'process_resident_memory_bytes', { by: BY_PROCESS })],
    }),
    graph({
      title: 'Heap in use',
      description:
        'Of JavaScript objects. Near the limit of the heap, garbage collections take most of the CPU time.',
      unit: units.BytesIEC,
      queries: [q.gauge('sum', 'nodejs_heap_size_used_bytes', { by: BY_PROCESS })],
    }),
    graph({
      title: 'Time in garbage collections',
      description: 'As a part of the time. Above 10 %: the heap is too small for the load.',
      unit: units.PercentUnit,
      queries: [q.rateOfSum('nodejs_gc_duration_seconds', { by: BY_PROCESS })],
    }),
    graph({
      title: 'Open files',
      description:
        'As a part of the limit. Near 100 %: new connections fail. Raise the limit (ulimit -n).',
      unit: units.PercentUnit,
      queries: [
        {
          expr: `${q.gauge('max', 'process_open_fds', { by: BY_PROCESS }).expr} / ${q.gauge('max', 'process_max_fds', { by: BY_PROCESS }).expr}`,
          legend: '{{instance}} {{worker}}',
        },
      ],
      max: 1,
    }),
  ],
};
