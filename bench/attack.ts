/**
 * Whether callers who attack harm the others: the p99 of a steady load with and without each attack, by
 * turns in one run. `node bench/attack.ts [part of an attack's name]`. 127.0.0.1 only; ends by itself.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createManagementClient } from '@gateway/local-stack/stack/management-client';
import { ATTACKERS } from '@gateway/local-stack/test/attackers';
import { createPlaneStack } from '@gateway/local-stack/test/processes';
import { z } from 'zod';
import type { AttackOrder } from './attack/attack-process.ts';
import { steadyLoad, type SteadyResult } from './attack/steady-load.ts';

const ROUNDS = 3;
const SECONDS = 3;
const CALLS_PER_SECOND = 200;
const MAX_RATIO = 2;
const SETTLE_MS = 700;
const idSchema = z.object({ data: z.object({ id: z.string() }) });

type Name = keyof typeof ATTACKERS;

/** How many hold the gateway up, and how soon each comes again: as a few hosts could, not a flood. */
function strengthOf(name: Name): { connections: number; againMs: number } {
  if (name === 'says nothing at all') return { connections: 10_000, againMs: 1000 };
  if (/without end|1 MB|header lines|request line|again and again|ends its side/.test(name)) {
    return { connections: name.includes('of one byte') ? 1 : 4, againMs: 500 };
  }
  // Each fills the buffers of two connections on this machine, some 20 MB; a few hundred would fill all the
  // memory that its kernel has for TCP, which holds up everybody on it.
  if (name === 'reads nothing of a large answer') return { connections: 40, againMs: 100 };
  return { connections: 500, againMs: 100 };
}

const processAt = (name: string) => fileURLToPath(new URL(`attack/${name}.ts`, import.meta.url));

async function withAttack<T>(order: AttackOrder, work: () => Promise<T>): Promise<T> {
  const child: ChildProcess = fork(processAt('attack-process'), [JSON.stringify(order)]);
  // It also ends by itself, when its own time is over.
  const ended = once(child, 'exit');
  try {
    // Until its connections are open: 10 000 take two seconds.
    await delay(SETTLE_MS + order.connections / 4);
    return await work();
  } finally {
    if (child.connected) child.disconnect();
    await ended;
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const upstreams: ChildProcess[] = [];
/** One for each route, so that what an attack makes its upstream do is not taken for the gateway's. */
async function startUpstream(): Promise<string> {
  const child = fork(processAt('upstream-process'));
  upstreams.push(child);
  const [port] = (await once(child, 'message')) as [number];
  return `http://127.0.0.1:${port}`;
}

const stack = await createPlaneStack();
try {
  const controlPlane = await stack.startControlPlane();
  const client = createManagementClient(controlPlane.baseUrl, stack.adminToken);
  const makeRoute = async (name: string, url: string) => {
    const service = { name, environment: 'production', url };
    const service_id = idSchema.parse(await client.post('/v1/services', service)).data.id;
    const rate_limit = { limit: 1_000_000_000, window_seconds: 60 };
    await client.post('/v1/routes', { name, service_id, timeout_ms: 2000, rate_limit });
  };
  await makeRoute('canary', await startUpstream());
  await makeRoute('attacked', await startUpstream());
  await makeRoute('large', `${await startUpstream()}/large`);
  const dataPlane = await stack.startDataPlane({ env: { HEADERS_TIMEOUT_MS: '8000' } });
  const url = `${dataPlane.baseUrl}/v1/proxy/canary`;
  const port = Number(new URL(url).port);
  const load = () =>
    steadyLoad({ url, token: stack.adminToken, perSecond: CALLS_PER_SECOND, seconds: SECONDS });
  for (let warm = 0; warm < 2; warm += 1) await load();

  const [wanted = ''] = process.argv.slice(2);
  const names = (Object.keys(ATTACKERS) as Name[]).filter((name) => name.includes(wanted));
  process.stdout.write('| a caller that | p99 without | p99 with | ratio | failed |\n');
  process.stdout.write('| --- | --: | --: | --: | --: |\n');
  for (const name of names) {
    const route = /reads nothing|again and again/.test(name) ? 'large' : 'attacked';
    const target = { port, token: stack.adminToken, route };
    const maxMs = (SECONDS + 30) * 1000;
    const order = { name, target, maxMs, ...strengthOf(name) };
    const pairs: [SteadyResult, SteadyResult][] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const without = await load();
      pairs.push([without, await withAttack(order, load)]);
      await delay(SETTLE_MS);
    }
    const ratio = median(pairs.map(([without, attacked]) => attacked.p99Ms / without.p99Ms));
    const failed = pairs.reduce((sum, [, attacked]) => sum + attacked.failed, 0);
    const [before, during] = [0, 1].map((at) => median(pairs.map((pair) => pair[at]?.p99Ms ?? 0)));
    const cells = [name, `${before?.toFixed(1)} ms`, `${during?.toFixed(1)} ms`, ratio.toFixed(2)];
    process.stdout.write(`| ${cells.join(' | ')} | ${failed} |\n`);
    if (ratio > MAX_RATIO || failed > 0) process.exitCode = 1;
  }
} finally {
  await stack.close();
  for (const upstream of upstreams) upstream.disconnect();
}
