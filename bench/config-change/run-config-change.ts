import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createManagementClient,
  type ManagementClient,
} from '@gateway/local-stack/stack/management-client';
import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { untilInterrupted } from '../lab/interruption.ts';
import { seed, type Size } from '../lab/seed.ts';
import { usageOf } from '../measure/process-tree.ts';
import { readMetrics } from '../measure/prometheus.ts';
import { percentile } from '../measure/statistics.ts';
import { countDelays, memoryOf } from './readings.ts';
import { besideTraffic } from './traffic.ts';
import { changeRoute } from './change-route.ts';
import { untilAllowed } from './until-allowed.ts';

/** What `npm run bench -- config-change` is given. */
export interface ConfigChangeOptions {
  readonly changes: number;
  readonly dataPlanes: number;
  readonly routes: number;
  readonly tokens: number;
}

const ROUTES_OF_A_SERVICE = 10;
const SMALL: Size = { services: 10, routes: 100, tokens: 100 };
const QUIET_MS = 5000;
const BETWEEN_MS = 50;

const print = (line: string) => process.stdout.write(`${line}\n`);
const ms = (value: number, digits = 1) => `${value.toFixed(digits)} ms`;
const seconds = (us: number) => `${(us / 1e6).toFixed(1)} s`;

/**
 * Measures what a change of configuration costs and how soon it is served: real planes, a service for ten routes, and
 * light traffic on every data plane. Then the control plane's CPU time for a change at 100 routes.
 */
export function runConfigChange(options: ConfigChangeOptions): Promise<void> {
  return untilInterrupted((signal) => runUntil(signal, options));
}

async function runUntil(signal: AbortSignal, options: ConfigChangeOptions): Promise<void> {
  const upstream = createServer((_request, response) => response.end('ok'));
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  try {
    printMachineLoad('start');
    await measureLarge(upstreamUrl, options, signal);
    await measureSmall(upstreamUrl, options.changes, signal);
    printMachineLoad('end');
  } finally {
    upstream.close();
    upstream.closeAllConnections();
  }
}

function printMachineLoad(when: 'start' | 'end'): void {
  const averages = loadavg().map((load) => load.toFixed(1));
  print(`load averages of the machine at the ${when}: ${averages.join(' ')}`);
}

/** A running control plane with a seeded configuration. */
interface Site {
  readonly stack: PlaneStack;
  readonly client: ManagementClient;
  readonly controlPlane: ServiceProcess;
  readonly routeIds: readonly string[];
  /** Of the run. */
  readonly signal: AbortSignal;
}

async function withSite(
  size: Size,
  upstreamUrl: string,
  signal: AbortSignal,
  run: (site: Site) => Promise<void>,
): Promise<void> {
  const stack = await createPlaneStack();
  try {
    const env = { MANAGEMENT_RATE_LIMIT: '1000000' };
    const controlPlane = await stack.startControlPlane({ env, signal });
    const client = createManagementClient(controlPlane.baseUrl, stack.adminToken);
    const { routeIds } = await seed(client, stack.databaseUrl, size, {
      service: { url: upstreamUrl },
      route: { methods: ['PUT'] },
    });
    await run({ stack, client, controlPlane, routeIds, signal });
  } finally {
    await stack.close();
  }
}

/** Changes routes one after the other; returns how long after its 2xx each change was served everywhere, ms. */
async function change(
  site: Site,
  dataPlanes: readonly ServiceProcess[],
  changes: number,
): Promise<number[]> {
  const { client, routeIds, stack, signal } = site;
  const tookMs: number[] = [];
  for (let index = 0; index < changes; index += 1) {
    const { route, method } = await changeRoute(client, routeIds, index);
    const committedMs = performance.now();
    await Promise.all(
      dataPlanes.map((one) => untilAllowed(one, stack.adminToken, route, method, signal)),
    );
    tookMs.push(performance.now() - committedMs);
    await delay(BETWEEN_MS, undefined, { signal });
  }
  return tookMs;
}

/** Starts a data plane and waits until it serves the last route. */
async function startDataPlane({ stack, routeIds, signal }: Site): Promise<ServiceProcess> {
  const dataPlane = await stack.startDataPlane({ signal });
  await untilAllowed(dataPlane, stack.adminToken, routeIds.length, 'PUT', signal);
  return dataPlane;
}

async function startLoadedDataPlane(site: Site): Promise<ServiceProcess> {
  const startedMs = performance.now();
  const dataPlane = await startDataPlane(site);
  const tookMs = performance.now() - startedMs;
  const read = await readMetrics(dataPlane.adminUrl);
  const applied = read('gateway_config_apply_seconds_sum');
  print(
    `cold start: ${ms(tookMs, 0)} from the start of the process until the last route was served, ` +
      `of which ${ms(applied * 1000, 0)} applied the configuration; ` +
      `${seconds(usageOf(dataPlane.pid).cpuUs)} of CPU; ${memoryOf(dataPlane, read)}`,
  );
  return dataPlane;
}

/** Changes routes, prints the control plane's CPU time for each, and returns what `change` returns. */
async function costOfChange(
  site: Site,
  dataPlanes: readonly ServiceProcess[],
  changes: number,
): Promise<number[]> {
  const { controlPlane } = site;
  const before = usageOf(controlPlane.pid).cpuUs;
  const tookMs = await change(site, dataPlanes, changes);
  const cpuMs = (usageOf(controlPlane.pid).cpuUs - before) / 1000;
  const name = 'gateway_control_plane_publish_duration_seconds';
  const read = await readMetrics(controlPlane.adminUrl);
  const count = (form: string) => read(`${name}_count{form="${form}"}`);
  print(
    `control plane at ${site.routeIds.length} routes: ${ms(cpuMs / changes, 2)} of CPU for each change, ` +
      `its API call included; ${memoryOf(controlPlane, read)}; published so far: ${count('delta')} deltas, ` +
      `${count('snapshot')} snapshots, ${count('repeated')} snapshots of earlier deltas`,
  );
  return tookMs;
}

async function measureLarge(
  upstreamUrl: string,
  { changes, dataPlanes: dataPlaneCount, routes, tokens }: ConfigChangeOptions,
  signal: AbortSignal,
): Promise<void> {
  const size = { services: Math.ceil(routes / ROUTES_OF_A_SERVICE), routes, tokens };
  await withSite(size, upstreamUrl, signal, async (site) => {
    const dataPlanes: ServiceProcess[] = [];
    for (let count = 0; count < dataPlaneCount; count += 1) {
      dataPlanes.push(await startLoadedDataPlane(site));
    }
    await delay(QUIET_MS, undefined, { signal });
    const { adminToken } = site.stack;
    const { quiet, delaysBefore, tookMs, changing } = await besideTraffic(
      dataPlanes,
      adminToken,
      async (take) => {
        await delay(QUIET_MS, undefined, { signal });
        const quiet = take();
        const delaysBefore = await Promise.all(
          dataPlanes.map(async ({ adminUrl }) => countDelays(await readMetrics(adminUrl))),
        );
        const tookMs = await costOfChange(site, dataPlanes, changes);
        return { quiet, delaysBefore, tookMs, changing: take() };
      },
    );
    print(
      `from the 2xx until all ${dataPlaneCount} data planes served the change, ${changes} changes: ` +
        `median ${ms(percentile(tookMs, 0.5))}, p95 ${ms(percentile(tookMs, 0.95))}, ` +
        `max ${ms(percentile(tookMs, 1))}`,
    );
    for (const [index, dataPlane] of dataPlanes.entries()) {
      const read = await readMetrics(dataPlane.adminUrl);
      const applied = read('gateway_config_deltas_total');
      const sum = read('gateway_config_delta_loop_seconds_sum');
      const before = delaysBefore[index];
      const { delays, longDelays } = countDelays(read);
      const within = read('gateway_config_delta_loop_seconds_bucket{le="0.005"}');
      print(
        `data plane ${index + 1}: ${applied} deltas, ${ms((sum / applied) * 1000, 3)} of event loop time ` +
          `each, ${within} of them below 5 ms; of ${delays - (before?.delays ?? 0)} samples of event loop delay ` +
          `meanwhile ${longDelays - (before?.longDelays ?? 0)} above 50 ms; ${memoryOf(dataPlane, read)}`,
      );
    }
    for (const [what, taken] of Object.entries({ without: quiet, with: changing })) {
      print(
        `traffic ${what} changes: ${taken.length} requests, p50 ${ms(percentile(taken, 0.5), 2)}, ` +
          `p99 ${ms(percentile(taken, 0.99), 2)}, max ${ms(percentile(taken, 1), 2)}`,
      );
    }
  });
}

async function measureSmall(
  upstreamUrl: string,
  changes: number,
  signal: AbortSignal,
): Promise<void> {
  await withSite(SMALL, upstreamUrl, signal, async (site) => {
    await costOfChange(site, [await startDataPlane(site)], changes);
  });
}
