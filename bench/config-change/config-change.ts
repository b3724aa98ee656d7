import { setTimeout as delay } from 'node:timers/promises';
import { command, whole } from '../command.ts';
import { startStack } from '../lab/stack.ts';
import { startNodeUpstream } from '../lab/upstream.ts';
import type { Measured } from '../load/paced/load-process.ts';
import { startPacedLoad } from '../load/paced/paced-load.ts';
import { usageOf } from '../measure/process-tree.ts';
import { readMetrics } from '../measure/prometheus.ts';
import { percentile } from '../measure/statistics.ts';
import { serveChange, seedSite, startDataPlane, type DataPlane } from './site.ts';

const ROUTES_OF_A_SERVICE = 10;
const QUIET_SECONDS = 5;
const BETWEEN_MS = 50;
/** Light traffic on every data plane. */
const PER_SECOND = 50;

const print = (line: string) => process.stdout.write(`${line}\n`);
const ms = (value: number, digits = 1) => `${value.toFixed(digits)} ms`;

/** The memory of a process now. */
function memoryOf({ pid }: { readonly pid: number }, heapBytes: number): string {
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
  return `${megabytes(usageOf(pid).residentBytes)} resident, ${megabytes(heapBytes)} of heap used`;
}

/**
 * Measures what a change of configuration costs and how soon it is served: real planes, a service for ten routes, and
 * light traffic on every data plane.
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
    const size = { services: Math.ceil(routes / ROUTES_OF_A_SERVICE), routes, tokens };
    const site = await seedSite(await startStack(run), run, size, url);
    const { controlPlane, stack } = site;
    const dataPlanes: DataPlane[] = [];
    while (dataPlanes.length < planes) {
      const startedMs = performance.now();
      const dataPlane = await startDataPlane(site);
      dataPlanes.push(dataPlane);
      const read = await readMetrics(dataPlane.adminUrl);
      print(
        `cold start: ${ms(performance.now() - startedMs, 0)} from the start of the process until the last route was ` +
          `served, of which ${ms(read('gateway_config_apply_seconds_sum') * 1000, 0)} applied the configuration; ` +
          `${(usageOf(dataPlane.pid).cpuUs / 1e6).toFixed(1)} s of CPU; ` +
          memoryOf(dataPlane, read('nodejs_heap_size_used_bytes')),
      );
    }
    const urls = dataPlanes.map(({ baseUrl }) => `${baseUrl}/v1/proxy/route-0`);
    const load = await startPacedLoad(run, { urls, authorization: `Bearer ${stack.adminToken}` });
    const send = (seconds: number, adds = false) =>
      load.run({ perSecond: PER_SECOND * planes, seconds, adds });
    await delay(QUIET_SECONDS * 1000, undefined, { signal: run.signal });
    printTraffic('without', await send(QUIET_SECONDS));
    const readAll = () => Promise.all(dataPlanes.map(({ adminUrl }) => readMetrics(adminUrl)));
    const readsBefore = await readAll();
    const cpuBeforeUs = usageOf(controlPlane.pid).cpuUs;
    const tookMs: number[] = [];
    const makeChanges = async () => {
      while (tookMs.length < changes) {
        tookMs.push(await serveChange(site, dataPlanes, tookMs.length));
        await delay(BETWEEN_MS, undefined, { signal: run.signal });
      }
    };
    const changing = makeChanges();
    let during = await send(1);
    while (tookMs.length < changes) during = await send(1, true);
    await changing;
    const cpuMs = (usageOf(controlPlane.pid).cpuUs - cpuBeforeUs) / 1000;
    printTraffic('with', during);
    const read = await readMetrics(controlPlane.adminUrl);
    const count = (form: string) =>
      read(`gateway_control_plane_publish_duration_seconds_count{form="${form}"}`);
    print(
      `control plane at ${routes} routes: ${ms(cpuMs / changes, 2)} of CPU for each change, its API call included; ` +
        `${memoryOf(controlPlane, read('nodejs_heap_size_used_bytes'))}; published so far: ${count('delta')} deltas, ` +
        `${count('snapshot')} snapshots, ${count('repeated')} snapshots of earlier deltas`,
    );
    print(
      `from the 2xx until all ${planes} data planes served the change, ${changes} changes: median ` +
        `${ms(percentile(tookMs, 0.5))}, p95 ${ms(percentile(tookMs, 0.95))}, max ${ms(percentile(tookMs, 1))}`,
    );
    for (const [index, now] of (await readAll()).entries()) {
      const since = (name: string) => now(name) - (readsBefore[index]?.(name) ?? 0);
      const applied = now('gateway_config_deltas_total');
      const loopMs = (now('gateway_config_delta_loop_seconds_sum') / applied) * 1000;
      const within = now('gateway_config_delta_loop_seconds_bucket{le="0.005"}');
      const delays = since('gateway_event_loop_delay_seconds_count');
      const long = delays - since('gateway_event_loop_delay_seconds_bucket{le="0.05"}');
      print(
        `data plane ${index + 1}: ${applied} deltas, ${ms(loopMs, 3)} of event loop time each, ${within} of them below ` +
          `5 ms; of ${delays} samples of event loop delay meanwhile ${long} above 50 ms; ` +
          memoryOf(dataPlanes[index] ?? controlPlane, now('nodejs_heap_size_used_bytes')),
      );
    }
  },
});

function printTraffic(what: string, { requests, failed, p50Ms, p99Ms, maxMs }: Measured): void {
  if (failed > 0) throw new Error(`${failed} requests of the light traffic failed`);
  print(
    `traffic ${what} changes: ${requests} requests, p50 ${ms(p50Ms, 2)}, p99 ${ms(p99Ms, 2)}, max ${ms(maxMs, 2)}`,
  );
}
