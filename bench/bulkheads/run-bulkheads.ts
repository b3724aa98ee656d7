import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  createManagementClient,
  type ManagementClient,
} from '@gateway/local-stack/stack/management-client';
import type { CrowdOptions } from '@gateway/local-stack/test/crowd';
import { createPlaneStack, type PlaneStack } from '@gateway/local-stack/test/processes';
import { z } from 'zod';
import { steadyLoad, type SteadyResult } from '../attack/steady-load.ts';
import { median } from '../measure/statistics.ts';
import type { CrowdReport } from './crowd-process.ts';

/** What `npm run bench -- bulkheads` is given. */
export interface BulkheadsOptions {
  /** Only the neighbours whose name contains this. */
  readonly name: string;
  /** Callers of the bad routes, together. */
  readonly callers: number;
  /** Callers with slow bodies. */
  readonly bodies: number;
}

const ROUNDS = 3;
const SECONDS = 5;
const CALLS_PER_SECOND = 200;
const MAX_RATIO = 1.5;
/** About what `Retry-After: 1` asks for. */
const AGAIN_MS = 1000;
const SETTLE_MS = 3000;
const created = z.object({ data: z.object({ id: z.string() }) });
const issued = z.object({ data: z.object({ secret: z.string() }) });

type Crowds = readonly Omit<CrowdOptions, 'port' | 'againMs'>[];

/**
 * Measures whether bad neighbours harm a sound route: its failures and its p99, alternately alone and beside each of
 * them. Sets exit code 1 if a request of the sound route fails, or if its p99 is more than 1.5 times as long.
 */
export async function runBulkheads(options: BulkheadsOptions): Promise<void> {
  const stack = await createPlaneStack();
  const upstreams: ChildProcess[] = [];
  try {
    const { url, bareToken } = await startTarget(stack, upstreams);
    const load = () =>
      steadyLoad({ url, token: stack.adminToken, perSecond: CALLS_PER_SECOND, seconds: SECONDS });
    for (let warm = 0; warm < 2; warm += 1) await load();
    process.stdout.write(
      '| beside | p99 alone | p99 beside | ratio | failed | the callers got |\n',
    );
    process.stdout.write('| --- | --: | --: | --: | --: | --- |\n');
    const port = Number(new URL(url).port);
    const neighbours = neighboursOf(options, stack.adminToken, bareToken);
    for (const [name, crowds] of Object.entries(neighbours)) {
      if (!name.includes(options.name)) continue;
      const all = crowds.map((crowd) => ({ ...crowd, port, againMs: AGAIN_MS }));
      await measure(name, all, load);
    }
  } finally {
    await stack.close();
    for (const upstream of upstreams) upstream.disconnect();
  }
}

function neighboursOf(
  { callers, bodies }: BulkheadsOptions,
  token: string,
  bareToken: string,
): Readonly<Record<string, Crowds>> {
  const half = Math.ceil(callers / 2);
  const slow = { path: '/v1/x', callers: bodies, kind: 'slow-bodies' as const };
  return {
    [`${half} callers of a hung route, ${half} of a slow one`]: [
      { path: '/v1/proxy/hung', token, callers: half, kind: 'calls' },
      { path: '/v1/proxy/slow', token, callers: half, kind: 'calls' },
    ],
    [`${bodies} slow bodies without a token to /v1/x`]: [slow],
    [`${bodies} slow bodies with a token without a management scope`]: [
      { ...slow, token: bareToken },
    ],
    [`${callers} calls to a control plane that hangs`]: [
      { path: '/v1/x', token, callers, kind: 'calls' },
    ],
  };
}

/** Starts a data plane with a sound, a slow and a hung route. Its control plane takes calls and never answers them. */
async function startTarget(stack: PlaneStack, upstreams: ChildProcess[]) {
  const controlPlane = await stack.startControlPlane();
  const client = createManagementClient(controlPlane.baseUrl, stack.adminToken);
  const startUpstream = async (): Promise<string> => {
    const child = fork(fileURLToPath(new URL('../attack/upstream-process.ts', import.meta.url)));
    upstreams.push(child);
    const [port] = (await once(child, 'message')) as [number];
    return `http://127.0.0.1:${port}`;
  };
  await makeRoute(client, 'sound', await startUpstream());
  await makeRoute(client, 'slow', `${await startUpstream()}/slow`);
  await makeRoute(client, 'hung', `${await startUpstream()}/hung`);
  const bare = { name: 'bare', environments: ['production'], routes: ['none'], scopes: ['proxy'] };
  const bareToken = issued.parse(await client.post('/v1/tokens', bare)).data.secret;
  const dataPlane = await stack.startDataPlane({
    env: {
      CONTROL_PLANE_URL: `${await startUpstream()}/hung`,
      // All callers come from one address here.
      MAX_CONNECTIONS_PER_ADDRESS: '20000',
    },
  });
  return { url: `${dataPlane.baseUrl}/v1/proxy/sound`, bareToken };
}

async function makeRoute(client: ManagementClient, name: string, url: string): Promise<void> {
  const health_check = { interval_ms: 300_000 };
  const service = { name, environment: 'production', url, health_check };
  const service_id = created.parse(await client.post('/v1/services', service)).data.id;
  const rate_limit = { limit: 1_000_000_000, window_seconds: 60 };
  await client.post('/v1/routes', { name, service_id, retry_count: 0, rate_limit });
}

/** Runs the load alternately alone and beside the crowds, and prints the medians. */
async function measure(
  name: string,
  crowds: readonly CrowdOptions[],
  load: () => Promise<SteadyResult>,
): Promise<void> {
  const rounds: { alone: SteadyResult; beside: SteadyResult }[] = [];
  let got = '';
  for (let round = 0; round < ROUNDS; round += 1) {
    const alone = await load();
    const { result: beside, reports } = await besideCrowds(crowds, load);
    rounds.push({ alone, beside });
    got = reports.map(({ statuses }) => JSON.stringify(statuses)).join(' ');
    await delay(SETTLE_MS);
  }
  const p99 = (which: 'alone' | 'beside') => median(rounds.map((round) => round[which].p99Ms));
  const ratio = median(rounds.map(({ alone, beside }) => beside.p99Ms / alone.p99Ms));
  const failed = rounds.reduce((sum, { beside }) => sum + beside.failed, 0);
  const times = [p99('alone'), p99('beside')].map((ms) => `${ms.toFixed(1)} ms`);
  const cells = [name, ...times, ratio.toFixed(2), `${failed} of ${callsOf(rounds)}`, got];
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
  if (ratio > MAX_RATIO || failed > 0) process.exitCode = 1;
}

function callsOf(rounds: readonly { beside: SteadyResult }[]): number {
  return rounds.reduce((sum, { beside }) => sum + beside.calls, 0);
}

async function besideCrowds<T>(crowds: readonly CrowdOptions[], work: () => Promise<T>) {
  const script = fileURLToPath(new URL('crowd-process.ts', import.meta.url));
  const child = fork(script, [JSON.stringify(crowds)]);
  const ended = once(child, 'exit');
  try {
    // Until the connections are open.
    await delay(SETTLE_MS + crowds.reduce((sum, { callers }) => sum + callers, 0) / 4);
    const result = await work();
    child.send('report');
    const [reports] = (await once(child, 'message')) as [CrowdReport[]];
    return { result, reports };
  } finally {
    if (child.connected) child.disconnect();
    await ended;
  }
}
