import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { command, whole } from '../command.ts';
import { scoped } from '../lab/run.ts';
import { startNodeUpstream } from '../lab/upstream.ts';
import { usageOf } from '../measure/process-tree.ts';
import { readMetrics } from '../measure/prometheus.ts';
import { percentile } from '../measure/statistics.ts';
import { serveChange, startDataPlane, startSite, type Site } from './site.ts';
import { startLightTraffic } from './traffic.ts';

const ROUTES_OF_A_SERVICE = 10;
const SMALL = { services: 10, routes: 100, tokens: 100 };
const QUIET_MS = 5000;
const BETWEEN_MS = 50;

type Read = Awaited<ReturnType<typeof readMetrics>>;

const print = (line: string) => process.stdout.write(`${line}\n`);
const ms = (value: number, digits = 1) => `${value.toFixed(digits)} ms`;
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;

/**
 * Measures what a change of configuration costs and how soon it is served: real planes, a service for ten routes, and
 * light traffic on every data plane. Then the control plane's CPU time for a change at 100 routes.
 */
export const configChange = command({
  name: 'config-change',
  summary: 'cost of a configuration change, and the time until data planes serve it',
  options: {
    changes: whole(100, [1, 2000], 'changes to make'),
    dataPlanes: whole(2, [1, 8], 'data planes to start'),
    routes: whole(10_000, [10, 1_000_000], 'routes, ten of each service'),
    tokens: whole(10_000, [1, 1_000_000], 'tokens'),
  },
  async run(run, { changes, dataPlanes: planes, routes, tokens }) {
    const { url } = await startNodeUpstream(run);
    print(
      `load averages of the machine: ${loadavg()
        .map((load) => load.toFixed(1))
        .join(' ')}`,
    );
    const size = { services: Math.ceil(routes / ROUTES_OF_A_SERVICE), routes, tokens };
    await scoped(run, async (part) => {
      const site = await startSite(part, size, url);
      const dataPlanes: ServiceProcess[] = [];
      for (let count = 0; count < planes; count += 1) dataPlanes.push(await startLoaded(site));
      await measureBesideTraffic(site, dataPlanes, changes);
    });
    await scoped(run, async (part) => {
      const site = await startSite(part, SMALL, url);
      await costOfChanges(site, [await startDataPlane(site)], changes);
    });
  },
});

/** The memory of a process now. */
function memoryOf({ pid }: ServiceProcess, read: Read): string {
  const heapBytes = read('nodejs_heap_size_used_bytes');
  return `${megabytes(usageOf(pid).residentBytes)} resident, ${megabytes(heapBytes)} of heap used`;
}

async function startLoaded(site: Site): Promise<ServiceProcess> {
  const startedMs = performance.now();
  const dataPlane = await startDataPlane(site);
  const tookMs = performance.now() - startedMs;
  const read = await readMetrics(dataPlane.adminUrl);
  const applied = read('gateway_config_apply_seconds_sum');
  print(
    `cold start: ${ms(tookMs, 0)} from the start of the process until the last route was served, ` +
      `of which ${ms(applied * 1000, 0)} applied the configuration; ` +
      `${(usageOf(dataPlane.pid).cpuUs / 1e6).toFixed(1)} s of CPU; ${memoryOf(dataPlane, read)}`,
  );
  return dataPlane;
}

/**
 * Makes changes one after the other and prints the control plane's CPU time for each.
 *
 * @returns how long after its 2xx each change was served everywhere, ms
 */
async function costOfChanges(
  site: Site,
  dataPlanes: readonly ServiceProcess[],
  changes: number,
): Promise<number[]> {
  const { controlPlane, signal } = site;
  const before = usageOf(controlPlane.pid).cpuUs;
  const tookMs: number[] = [];
  for (let change = 0; change < changes; change += 1) {
    tookMs.push(await serveChange(site, dataPlanes, change));
    await delay(BETWEEN_MS, undefined, { signal });
  }
  const cpuMs = (usageOf(controlPlane.pid).cpuUs - before) / 1000;
  const read = await readMetrics(controlPlane.adminUrl);
  const count = (form: string) =>
    read(`gateway_control_plane_publish_duration_seconds_count{form="${form}"}`);
  print(
    `control plane at ${site.routeIds.length} routes: ${ms(cpuMs / changes, 2)} of CPU for each change, ` +
      `its API call included; ${memoryOf(controlPlane, read)}; published so far: ${count('delta')} deltas, ` +
      `${count('snapshot')} snapshots, ${count('repeated')} snapshots of earlier deltas`,
  );
  return tookMs;
}

async function measureBesideTraffic(
  site: Site,
  dataPlanes: readonly ServiceProcess[],
  changes: number,
): Promise<void> {
  const { signal, stack } = site;
  await delay(QUIET_MS, undefined, { signal });
  const readAll = () => Promise.all(dataPlanes.map(({ adminUrl }) => readMetrics(adminUrl)));
  const traffic = startLightTraffic(dataPlanes, stack.adminToken);
  await delay(QUIET_MS, undefined, { signal });
  const without = traffic.take();
  const readsBefore = await readAll();
  const tookMs = await costOfChanges(site, dataPlanes, changes);
  const during = traffic.take();
  await traffic.stop();
  print(
    `from the 2xx until all ${dataPlanes.length} data planes served the change, ${changes} changes: ` +
      `median ${ms(percentile(tookMs, 0.5))}, p95 ${ms(percentile(tookMs, 0.95))}, ` +
      `max ${ms(percentile(tookMs, 1))}`,
  );
  for (const [index, read] of (await readAll()).entries()) {
    const since = (name: string) => read(name) - (readsBefore[index]?.(name) ?? 0);
    const applied = read('gateway_config_deltas_total');
    const sum = read('gateway_config_delta_loop_seconds_sum');
    const within = read('gateway_config_delta_loop_seconds_bucket{le="0.005"}');
    const delays = since('gateway_event_loop_delay_seconds_count');
    const longDelays = delays - since('gateway_event_loop_delay_seconds_bucket{le="0.05"}');
    const plane = dataPlanes[index];
    print(
      `data plane ${index + 1}: ${applied} deltas, ${ms((sum / applied) * 1000, 3)} of event loop time ` +
        `each, ${within} of them below 5 ms; of ${delays} samples of event loop delay ` +
        `meanwhile ${longDelays} above 50 ms${plane === undefined ? '' : `; ${memoryOf(plane, read)}`}`,
    );
  }
  for (const [what, taken] of Object.entries({ without, with: during })) {
    print(
      `traffic ${what} changes: ${taken.length} requests, p50 ${ms(percentile(taken, 0.5), 2)}, ` +
        `p99 ${ms(percentile(taken, 0.99), 2)}, max ${ms(percentile(taken, 1), 2)}`,
    );
  }
}
