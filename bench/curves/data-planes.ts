import { createManagementClient } from '@gateway/local-stack/stack/management-client';
import { createPlaneStack } from '@gateway/testing/processes';
import type { Lab } from '../lab/lab.ts';
import { WIDE_QUOTA } from '../lab/management.ts';
import { runLoad } from '../load/wrk.ts';
import { usageOf } from '../measure/process-tree.ts';
import { percentile } from '../measure/statistics.ts';
import { configureOne } from '../peers/gateway-configuration.ts';
import { untilServed } from '../peers/gateway.ts';
import { log } from '../report/log.ts';
import type { Series } from './chart/line-chart.ts';
import type { Curve } from './curve.ts';
import { inLab } from './in-lab.ts';

const COUNTS = [1, 2, 4, 8] as const;
const MOST = 8;
const ROUNDS = 6;
const CONNECTIONS = 32;
/** All connections together send nearly 4000 requests/s. */
const REST_MS = '4-12';
const SECONDS = 3;

/** CPU time per request of all data planes together over their number, at the same total load. */
export const dataPlanes: Curve = {
  name: 'data-planes',
  chart: {
    title: 'CPU per request, of all data planes together',
    x: { label: 'data planes that share the load', scale: 'linear' },
    y: { label: 'CPU per request, µs', scale: 'linear' },
  },
  method:
    `${MOST} data planes on one core. The load of nearly 4000 requests/s over ${CONNECTIONS} connections goes to one ` +
    `of them or is shared by several, whose CPU time, idle work included, is added up. The lower quartile of ${ROUNDS} ` +
    `rounds of ${SECONDS} s in which all points take turns.`,
  measure: () => inLab(measure),
};

interface Plane {
  readonly url: string;
  readonly pid: number;
}

async function measure(lab: Lab): Promise<readonly Series[]> {
  const { authorization, planes } = await startPlanes(lab);
  const costs = new Map<number, number[]>(COUNTS.map((count) => [count, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [count, all] of costs) {
      const cpuUs = await costOf(lab, planes.slice(0, count), authorization);
      log(`round ${round}: ${count} data planes: ${cpuUs.toFixed(1)} µs`);
      // Round 0 is the warm-up.
      if (round > 0) all.push(cpuUs);
    }
  }
  const points = [...costs].map(([x, all]) => ({ x, y: percentile(all, 0.25) }));
  return [{ name: 'all data planes', points }];
}

async function startPlanes({ runner, site }: Lab) {
  const stack = await createPlaneStack();
  runner.defer('gateway', () => stack.close());
  const controlPlane = await stack.startControlPlane();
  const client = createManagementClient(controlPlane.baseUrl, stack.adminToken);
  const upstreamUrl = `http://127.0.0.1:${site.upstreamPort}`;
  const { authorization } = await configureOne(client, upstreamUrl, WIDE_QUOTA);
  const planes: Plane[] = [];
  for (let count = 1; count <= MOST; count += 1) {
    log(`starting data plane ${count}`);
    const { baseUrl, pid } = await stack.startDataPlane({
      launcher: site.launcher,
      signal: site.signal,
    });
    const url = `${baseUrl}/v1/proxy/orders`;
    await untilServed(url, authorization, site.signal);
    planes.push({ url, pid });
  }
  await controlPlane.stop();
  return { authorization, planes };
}

/** Shares the load among these data planes; returns their CPU time per request, µs. */
async function costOf(
  { site }: Lab,
  planes: readonly Plane[],
  authorization: string,
): Promise<number> {
  const used = () => planes.reduce((sum, { pid }) => sum + usageOf(pid).cpuUs, 0);
  const before = used();
  const results = await Promise.all(
    planes.map(({ url }) =>
      runLoad({
        url,
        authorization,
        connections: CONNECTIONS / planes.length,
        seconds: SECONDS,
        restMs: REST_MS,
        signal: site.signal,
      }),
    ),
  );
  const cpuUs = used() - before;
  const failed = results.reduce((sum, one) => sum + one.failed_status + one.failed_socket, 0);
  if (failed > 0) throw new Error(`${failed} requests failed`);
  return cpuUs / results.reduce((sum, { requests }) => sum + requests, 0);
}
