import { setTimeout as delay } from 'node:timers/promises';
import {
  seedSite,
  serveChange,
  startDataPlane,
  type DataPlane,
  type Site,
} from '../config-change/site.ts';
import { startStack } from '../lab/stack.ts';
import { usageOf } from '../measure/process-tree.ts';
import { readMetrics } from '../measure/prometheus.ts';
import { median } from '../measure/statistics.ts';
import { log } from '../lab/log.ts';
import type { Curve } from './curve.ts';

const SIZES = [100, 1000, 10_000, 100_000];
/** A snapshot of earlier changes may be stored at this time; it is no part of a change. */
const BETWEEN_MS = 50;
const SNAPSHOT = 'gateway_control_plane_publish_duration_seconds_sum{form="snapshot"}';

interface Stack {
  readonly x: number;
  readonly site: Site;
  readonly dataPlane: DataPlane;
  readonly snapshotMs: number;
  /** CPU time of each change, ms. */
  readonly spent: { readonly control: number[]; readonly data: number[] };
}

/**
 * What publishing costs over the number of routes: the CPU time of one change of a route, the median of changes made in
 * turn on stacks of all sizes; and the time that the first snapshot took.
 */
export const changes: Curve = {
  name: 'changes',
  title: 'Cost of publishing over routes',
  x: 'routes (and as many tokens)',
  y: 'ms',
  isWide: true,
  async measure(run, rounds = 30) {
    const stacks: Stack[] = [];
    for (const x of SIZES) {
      log(`starting a stack with ${x} routes`);
      const started = await startStack(run);
      const publishedMs = async () =>
        (await readMetrics(started.controlPlane.adminUrl))(SNAPSHOT) * 1000;
      const before = await publishedMs();
      const size = { services: 1, routes: x, tokens: x };
      // Nothing listens there: the data plane refuses the requests of this bench by their method.
      const site = await seedSite(started, run, size, 'http://127.0.0.1:9');
      const dataPlane = await startDataPlane(site);
      const snapshotMs = (await publishedMs()) - before;
      stacks.push({ x, site, dataPlane, snapshotMs, spent: { control: [], data: [] } });
    }
    for (let change = 0; change < rounds; change += 1) {
      for (const { site, dataPlane, spent } of stacks) {
        const control = usageOf(site.controlPlane.pid).cpuUs;
        const data = usageOf(dataPlane.pid).cpuUs;
        await serveChange(site, [dataPlane], change);
        spent.control.push((usageOf(site.controlPlane.pid).cpuUs - control) / 1000);
        spent.data.push((usageOf(dataPlane.pid).cpuUs - data) / 1000);
        await delay(BETWEEN_MS, undefined, { signal: run.signal });
      }
    }
    const series = (name: string, y: (stack: Stack) => number) => {
      return { name, points: stacks.map((stack) => ({ x: stack.x, y: y(stack) })) };
    };
    return [
      series('a change: control plane', ({ spent }) => median(spent.control)),
      series('a change: data plane', ({ spent }) => median(spent.data)),
      series('a snapshot', ({ snapshotMs }) => snapshotMs),
    ];
  },
};
