import { setTimeout as delay } from 'node:timers/promises';
import { ATTACKERS } from '@gateway/testing/attackers';
import { command, whole } from '../command.ts';
import { createRoute } from '../lab/management.ts';
import { scoped, type Run } from '../lab/run.ts';
import { startScript } from '../lab/script.ts';
import { startStack } from '../lab/stack.ts';
import { startNodeUpstream } from '../lab/upstream.ts';
import type { Measured } from '../load/paced/load-process.ts';
import { startPacedLoad } from '../load/paced/paced-load.ts';
import { median } from '../measure/statistics.ts';
import type { AttackOrder } from './attack-process.ts';

const LOAD = { perSecond: 200, seconds: 3 };
const MAX_RATIO = 2;
const SETTLE_MS = 700;
/** An attack process ends by itself after this time. */
const MAX_MS = 33_000;
const LARGE_BYTES = 16 * 1024 * 1024;
const ROUTES = { canary: '', attacked: '', large: `/bytes/${LARGE_BYTES}` };

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
    const authorization = `Bearer ${token}`;
    const load = await startPacedLoad(run, {
      urls: [`${baseUrl}/v1/proxy/canary`],
      authorization,
    });
    for (let warm = 0; warm < 2; warm += 1) await load.run(LOAD);

    process.stdout.write('| a caller that | p99 without | p99 with | ratio | failed |\n');
    process.stdout.write('| --- | --: | --: | --: | --: |\n');
    for (const name of Object.keys(ATTACKERS) as Name[]) {
      if (!name.includes(part)) continue;
      const route = /reads nothing|again and again/.test(name) ? 'large' : 'attacked';
      const target = { port: Number(new URL(baseUrl).port), token, route };
      const order: AttackOrder = { name, target, maxMs: MAX_MS, ...strengthOf(name) };
      const results: { without: Measured; during: Measured }[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const without = await load.run(LOAD);
        results.push({ without, during: await besideAttack(order, run, () => load.run(LOAD)) });
        await delay(SETTLE_MS, undefined, { signal: run.signal });
      }
      print(name, results);
    }
  },
});

/** Prints the medians. */
function print(name: Name, rounds: readonly { without: Measured; during: Measured }[]): void {
  const ratio = median(rounds.map(({ without, during }) => during.p99Ms / without.p99Ms));
  const failed = rounds.reduce((sum, { during }) => sum + during.failed, 0);
  const before = median(rounds.map(({ without }) => without.p99Ms)).toFixed(1);
  const during = median(rounds.map((round) => round.during.p99Ms)).toFixed(1);
  const cells = [name, `${before} ms`, `${during} ms`, ratio.toFixed(2), String(failed)];
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
  if (ratio > MAX_RATIO || failed > 0) process.exitCode = 1;
}

function besideAttack<T>(order: AttackOrder, run: Run, work: () => Promise<T>): Promise<T> {
  return scoped(run, async (part) => {
    startScript(part, new URL('attack-process.ts', import.meta.url), order);
    // Until its connections are open: 10 000 take two seconds.
    await delay(SETTLE_MS + order.connections / 4, undefined, { signal: run.signal });
    return work();
  });
}
