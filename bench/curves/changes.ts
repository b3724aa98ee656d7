import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { serveChange, startDataPlane, startSite, type Site } from '../config-change/site.ts';
import type { StartedStack } from '../lab/stack.ts';
import { usageOf } from '../measure/process-tree.ts';
import { readMetrics } from '../measure/prometheus.ts';
import { median } from '../measure/statistics.ts';
import { log } from '../lab/log.ts';
import type { Curve } from './curve.ts';

const SIZES = [100, 1000, 10_000, 100_000];
const CHANGES = 30;
/** A snapshot of earlier changes may be stored at this time; it is no part of a change. */
const BETWEEN_MS = 50;
const PUBLISHED = 'gateway_control_plane_publish_duration_seconds_sum{form="snapshot"}';

interface Point {
  readonly x: number;
  readonly site: Site;
  readonly dataPlane: ServiceProcess;
  readonly snapshotMs: number;
  readonly control: number[];
  readonly data: number[];
}

/**
 * What publishing costs over the number of routes: the CPU time of one change of a route, the median of changes made in
 * turn on stacks of all sizes; and the time that the first snapshot took.
 */
export const changes: Curve = {
  name: 'changes',
  title: 'Cost of publishing over routes',
  x: { label: 'routes (and as many tokens)', scale: 'log' },
  y: { label: 'ms', scale: 'log' },
  async measure(run, rounds = CHANGES) {
    const points: Point[] = [];
    for (const x of SIZES) {
      log(`starting a stack with ${x} routes`);
      const publishedMs = async ({ controlPlane }: StartedStack) =>
        (await readMetrics(controlPlane.adminUrl))(PUBLISHED) * 1000;
      let before = 0;
      const size = { services: 1, routes: x, tokens: x };
      // Nothing listens there: the data plane refuses the requests of this bench by their method.
      const site = await startSite(run, size, 'http://127.0.0.1:9', async (started) => {
        before = await publishedMs(started);
      });
      const dataPlane = await startDataPlane(site);
      const snapshotMs = (await publishedMs(site)) - before;
      points.push({ x, site, dataPlane, snapshotMs, control: [], data: [] });
    }
    for (let change = 0; change < rounds; change += 1) {
      for (const { site, dataPlane, control, data } of points) {
        const cpuMs = () =>
          [site.controlPlane, dataPlane].map(({ pid }) => usageOf(pid).cpuUs / 1000);
        const [controlBefore = NaN, dataBefore = NaN] = cpuMs();
        await serveChange(site, [dataPlane], change);
        const [controlAfter = NaN, dataAfter = NaN] = cpuMs();
        control.push(controlAfter - controlBefore);
        data.push(dataAfter - dataBefore);
        await delay(BETWEEN_MS, undefined, { signal: run.signal });
      }
    }
    const series = (name: string, y: (point: Point) => number) => {
      return { name, points: points.map((point) => ({ x: point.x, y: y(point) })) };
    };
    return [
      series('a change: control plane', ({ control }) => median(control)),
      series('a change: data plane', ({ data }) => median(data)),
      series('a snapshot', ({ snapshotMs }) => snapshotMs),
    ];
  },
};
