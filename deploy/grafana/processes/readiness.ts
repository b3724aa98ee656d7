import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { Queries } from '../parts/query.ts';
import { BY_PROCESS, q } from './queries.ts';

/** A target that is down has no other series, so nothing filters these. The instance of a probe is the address that was probed. */
const probes = new Queries([]);

export const readiness: Row = {
  title: 'Readiness and restarts',
  panels: [
    graph({
      title: 'Ready',
      description:
        '0: the process cannot serve; /readyz says why. Needs the blackbox exporter and the job gateway-ready.',
      unit: units.Short,
      queries: [
        probes.gauge('min', 'probe_success', { by: ['instance'], where: ['job="gateway-ready"'] }),
      ],
      alerts: ['GatewayProcessNotReady'],
      max: 1,
    }),
    graph({
      title: 'Scraped',
      description:
        '0: Prometheus cannot read the metrics of a process, so no other alert about it can fire.',
      unit: units.Short,
      queries: [
        probes.gauge('min', 'up', { by: ['job', 'instance'], where: ['job=~"gateway-.+"'] }),
      ],
      alerts: ['GatewayTargetNotScraped'],
      max: 1,
    }),
    graph({
      title: 'Time since the start',
      description:
        'A line that falls to zero is a restart. Many: the process crashes, or its health check is too strict.',
      unit: units.Seconds,
      queries: [
        {
          expr: `time() - ${q.gauge('max', 'process_start_time_seconds', { by: BY_PROCESS }).expr}`,
          legend: '{{instance}} {{worker}}',
        },
      ],
    }),
    graph({
      title: 'Workers',
      description:
        'Of groups of workers, by state. Fewer ready than WORKERS: one is starting again.',
      unit: units.Short,
      queries: [q.gauge('sum', 'gateway_workers', { by: ['instance', 'state'] })],
      stacked: true,
    }),
    graph({
      title: 'Workers that were started again',
      description:
        'By reason. Above zero: requests in flight of that worker failed; the log has the exit code.',
      unit: units.Short,
      queries: [q.increase('gateway_worker_restarts_total', { by: ['instance', 'reason'] })],
      alerts: ['GatewayWorkerCrashedOrHung'],
    }),
  ],
};
