import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createManagementClient } from '@gateway/local-stack/stack/management-client';
import { ATTACKERS } from '@gateway/testing/attackers';
import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { UndoList } from '@gateway/shared/test/undo-list';
import { ForkedUpstreams } from '../lab/forked-upstreams.ts';
import { untilInterrupted } from '../lab/interruption.ts';
import { createRoute } from '../lab/management.ts';
import { median } from '../measure/statistics.ts';
import type { AttackOrder } from './attack-process.ts';
import { steadyLoad, type SteadyResult } from './steady-load.ts';

/** What `npm run bench -- attack` is given. */
export interface AttackOptions {
  /** Runs only the attacks whose name contains this. */
  readonly name: string;
}

const ROUNDS = 3;
const SECONDS = 3;
const CALLS_PER_SECOND = 200;
const MAX_RATIO = 2;
const SETTLE_MS = 700;
/** An attack process ends by itself this long after its measurement should be done. */
const ATTACK_MARGIN_SECONDS = 30;

const ROUTES = [
  ['canary', ''],
  ['attacked', ''],
  ['large', '/large'],
] as const;

type Name = keyof typeof ATTACKERS;

/** Where the steady load and the attacks go. */
interface Target {
  readonly url: string;
  readonly token: string;
}

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
export function runAttack(options: AttackOptions): Promise<void> {
  return untilInterrupted((signal) => runUntil(signal, options));
}

async function runUntil(signal: AbortSignal, { name: part }: AttackOptions): Promise<void> {
  const undo = new UndoList();
  const script = new URL('upstream-process.ts', import.meta.url);
  const upstreams = new ForkedUpstreams(script, signal);
  undo.add(() => upstreams.stop());
  try {
    const stack = await createPlaneStack();
    undo.add(() => stack.close());
    const target = await startTarget(stack, upstreams);
    const load = () =>
      steadyLoad({ ...target, perSecond: CALLS_PER_SECOND, seconds: SECONDS, signal });
    for (let warm = 0; warm < 2; warm += 1) await load();

    process.stdout.write('| a caller that | p99 without | p99 with | ratio | failed |\n');
    process.stdout.write('| --- | --: | --: | --: | --: |\n');
    for (const name of Object.keys(ATTACKERS) as Name[]) {
      if (name.includes(part)) await measureAttack(name, target, load, signal);
    }
  } finally {
    await undo.run();
  }
}

async function startTarget(stack: PlaneStack, upstreams: ForkedUpstreams): Promise<Target> {
  const controlPlane = await stack.startControlPlane();
  const client = createManagementClient(controlPlane.baseUrl, stack.adminToken);
  // One upstream for each route, so that the load that an attack puts on its upstream does not count as
  // the gateway's.
  for (const [name, path] of ROUTES) {
    const { url } = await upstreams.start();
    await createRoute(client, name, { service: { url: url + path }, route: { timeout_ms: 2000 } });
  }
  const dataPlane = await stack.startDataPlane({ env: { HEADERS_TIMEOUT_MS: '8000' } });
  return { url: `${dataPlane.baseUrl}/v1/proxy/canary`, token: stack.adminToken };
}

/** Runs the load alternately without and with the attack, and prints the medians. */
async function measureAttack(
  name: Name,
  { url, token }: Target,
  load: () => Promise<SteadyResult>,
  signal: AbortSignal,
): Promise<void> {
  const route = /reads nothing|again and again/.test(name) ? 'large' : 'attacked';
  const order: AttackOrder = {
    name,
    target: { port: Number(new URL(url).port), token, route },
    maxMs: (SECONDS + ATTACK_MARGIN_SECONDS) * 1000,
    ...strengthOf(name),
  };
  const rounds: { without: SteadyResult; during: SteadyResult }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const without = await load();
    rounds.push({ without, during: await withAttack(order, signal, load) });
    await delay(SETTLE_MS, undefined, { signal });
  }
  const ratio = median(rounds.map(({ without, during }) => during.p99Ms / without.p99Ms));
  const failed = rounds.reduce((sum, { during }) => sum + during.failed, 0);
  const before = median(rounds.map(({ without }) => without.p99Ms)).toFixed(1);
  const during = median(rounds.map((round) => round.during.p99Ms)).toFixed(1);
  const cells = [name, `${before} ms`, `${during} ms`, ratio.toFixed(2), String(failed)];
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
  if (ratio > MAX_RATIO || failed > 0) process.exitCode = 1;
}

async function withAttack<T>(
  order: AttackOrder,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const child = fork(processAt('attack-process'), [JSON.stringify(order)]);
  const ended = once(child, 'exit');
  try {
    // Until its connections are open: 10 000 take two seconds.
    await delay(SETTLE_MS + order.connections / 4, undefined, { signal });
    return await work();
  } finally {
    if (child.connected) child.disconnect();
    await ended;
  }
}

function processAt(name: string): string {
  return fileURLToPath(new URL(`${name}.ts`, import.meta.url));
}
