import { setTimeout as delay } from 'node:timers/promises';
import { ATTACKERS } from '@gateway/testing/attackers';
import { command, whole } from '../command.ts';
import { log } from '../lab/log.ts';
import { createRoute } from '../lab/management.ts';
import { scoped } from '../lab/run.ts';
import { startScript } from '../lab/script.ts';
import { startStack } from '../lab/stack.ts';
import { startNodeUpstream } from '../lab/upstream.ts';
import type { Measured } from '../load/paced/load-process.ts';
import { startPacedLoad } from '../load/paced/paced-load.ts';
import { median } from '../measure/statistics.ts';
import { formatRows } from '../report/table.ts';
import type { AttackOrder } from './attack-process.ts';

const LOAD = { perSecond: 200, seconds: 3 };
const MAX_RATIO = 2;
const SETTLE_MS = 700;
/** An attack process ends by itself after this time. */
const MAX_MS = 33_000;
const ROUTES = { canary: '', attacked: '', large: `/bytes/${16 * 1024 * 1024}` };

type Name = keyof typeof ATTACKERS;

/** Connections of an attack and how soon each is opened again: what a few hosts can do, not a flood. */
function strengthOf(name: Name): { connections: number; againMs: number } {
  if (name === 'says nothing at all') return { connections: 10_000, againMs: 1000 };
  if (/without end|1 MB|header lines|request line|again and again|ends its side/.test(name)) {
    return { connections: name.includes('of one byte') ? 1 : 4, againMs: 500 };
  }
  // Each fills the buffers of two connections, some 20 MB. A few hundred would use up the memory that the kernel
  // has for TCP, which slows down everything on the machine.
  if (name === 'reads nothing of a large answer') return { connections: 40, againMs: 100 };
  return { connections: 500, againMs: 100 };
}

/** The steady load without and with an attack, round by round. */
interface Attacked {
  readonly name: Name;
  readonly without: readonly Measured[];
  readonly during: readonly Measured[];
}

const ratioOf = ({ without, during }: Attacked) =>
  median(during.map(({ p99Ms }, round) => p99Ms / (without[round]?.p99Ms ?? NaN)));
const failedOf = ({ during }: Attacked) => during.reduce((sum, { failed }) => sum + failed, 0);
const p99Of = (all: readonly Measured[]) =>
  `${median(all.map(({ p99Ms }) => p99Ms)).toFixed(1)} ms`;

/**
 * Measures whether attacking callers harm the others: the p99 of a steady load, alternately with and without each
 * attack. Sets exit code 1 if an attack more than doubles the p99 or makes a request fail.
 */
export const attack = command({
  name: 'attack',
  summary: 'p99 of a steady load, with and without slow or oversized callers',
  argument: '[part of the name of an attack]',
  options: { rounds: whole(3, [1, 20], 'measurements with and without each attack') },
  async run(run, { rounds }, [part = '']) {
    const { stack, client } = await startStack(run);
    // One upstream for each route, so that the load that an attack puts on its upstream does not count as
    // the gateway's.
    for (const [name, path] of Object.entries(ROUTES)) {
      const service = { url: (await startNodeUpstream(run)).url + path };
      await createRoute(client, name, { service, route: { timeout_ms: 2000 } });
    }
    const { baseUrl } = await stack.startDataPlane({ env: { HEADERS_TIMEOUT_MS: '8000' } });
    const token = stack.adminToken;
    const urls = [`${baseUrl}/v1/proxy/canary`];
    const load = await startPacedLoad(run, { urls, authorization: `Bearer ${token}` });
    for (let warm = 0; warm < 2; warm += 1) await load.run(LOAD);
    const beside = (order: AttackOrder) =>
      scoped(run, async (attacking) => {
        startScript(attacking, new URL('attack-process.ts', import.meta.url), order);
        // Until its connections are open: 10 000 take two seconds.
        await delay(SETTLE_MS + order.connections / 4, undefined, { signal: run.signal });
        return load.run(LOAD);
      });
    const results: Attacked[] = [];
    for (const name of (Object.keys(ATTACKERS) as Name[]).filter((one) => one.includes(part))) {
      const route = /reads nothing|again and again/.test(name) ? 'large' : 'attacked';
      const target = { port: Number(new URL(baseUrl).port), token, route };
      const order: AttackOrder = { name, target, maxMs: MAX_MS, ...strengthOf(name) };
      const without: Measured[] = [];
      const during: Measured[] = [];
      for (let round = 0; round < rounds; round += 1) {
        without.push(await load.run(LOAD));
        during.push(await beside(order));
        await delay(SETTLE_MS, undefined, { signal: run.signal });
      }
      const attacked = { name, without, during };
      log(`${name}: ${ratioOf(attacked).toFixed(2)}`);
      if (ratioOf(attacked) > MAX_RATIO || failedOf(attacked) > 0) process.exitCode = 1;
      results.push(attacked);
    }
    const table = formatRows(results, {
      'a caller that': ({ name }) => name,
      'p99 without': ({ without }) => p99Of(without),
      'p99 with': ({ during }) => p99Of(during),
      ratio: (attacked) => ratioOf(attacked).toFixed(2),
      failed: (attacked) => String(failedOf(attacked)),
    });
    process.stdout.write(`${table}\n`);
  },
});
