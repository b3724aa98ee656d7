import { startLab } from '../lab/lab.ts';
import { startStack } from '../lab/stack.ts';
import { CONNECTIONS, runWrkWell } from '../load/wrk.ts';
import { measureLoad } from '../measure/round.ts';
import { percentile } from '../measure/statistics.ts';
import { takeTurns } from '../measure/turns.ts';
import { untilServed } from '../peers/gateway.ts';
import { oneRoute } from '../peers/gateway-configuration.ts';
import { log } from '../lab/log.ts';
import type { Curve } from './curve.ts';

const TIMEOUT_MS = 400_000;
const COUNTS = [1, 2, 4, 8];
const MOST = 8;
/** All connections together send nearly 4000 requests/s. */
const REST_MS = '4-12';
const SECONDS = 3;

/**
 * CPU time per request of all data planes together over their number, at the same total load: 8 of them on one core, of
 * which one gets the load or several share it. Their idle work is included.
 */
export const dataPlanes: Curve = {
  name: 'data-planes',
  title: 'CPU per request, of all data planes together',
  x: { label: 'data planes that share the load', scale: 'linear' },
  y: { label: 'CPU per request, µs', scale: 'linear' },
  async measure(run, rounds = 6) {
    const lab = await startLab(run, TIMEOUT_MS);
    const { launcher, signal } = lab;
    const { stack, controlPlane, client } = await startStack(lab);
    const upstreamUrl = `http://127.0.0.1:${lab.upstreamPort}`;
    const { authorization } = await oneRoute()(client, upstreamUrl, stack.databaseUrl);
    const planes: { url: string; authorization: string; pid: number }[] = [];
    for (let count = 1; count <= MOST; count += 1) {
      log(`starting data plane ${count}`);
      const { baseUrl, pid } = await stack.startDataPlane({ launcher, signal });
      const plane = { url: `${baseUrl}/v1/proxy/orders`, authorization, pid };
      await untilServed(plane, signal);
      planes.push(plane);
    }
    await controlPlane.stop();
    const measure = (count: number) => {
      const used = planes.slice(0, count);
      const shape = { connections: CONNECTIONS / count, seconds: SECONDS, restMs: REST_MS };
      const pids = used.map(({ pid }) => pid);
      return measureLoad(pids, lab.cores.measured, async () => {
        const outcomes = await Promise.all(used.map((plane) => runWrkWell(plane, shape, signal)));
        const [first] = outcomes as [(typeof outcomes)[number]];
        return { ...first, units: outcomes.reduce((sum, { units }) => sum + units, 0) };
      });
    };
    for (const count of COUNTS) await measure(count);
    const nameOf = (count: number) => `${count} data planes`;
    const results = await takeTurns(COUNTS, { rounds, nameOf, measure });
    const points = [...results].map(([x, taken]) => {
      const costs = taken.map(({ cpuUsPerRequest }) => cpuUsPerRequest);
      return { x, y: percentile(costs, 0.25) };
    });
    return [{ name: 'all data planes', points }];
  },
};
