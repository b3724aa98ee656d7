import { setTimeout as delay } from 'node:timers/promises';
import type { CrowdOptions } from '@gateway/testing/crowd';
import { command, whole } from '../command.ts';
import { pinned, pinSelf, splitCores } from '../lab/cores.ts';
import { createProxyToken, createRoute } from '../lab/management.ts';
import { giveLargeShare, shareSentence } from '../lab/priority.ts';
import { scoped, type Run } from '../lab/run.ts';
import { startScript } from '../lab/script.ts';
import { startStack } from '../lab/stack.ts';
import { startNodeUpstream } from '../lab/upstream.ts';
import type { Measured } from '../load/paced/load-process.ts';
import { startPacedLoad } from '../load/paced/paced-load.ts';
import { usageOf } from '../measure/process-tree.ts';
import { median } from '../measure/statistics.ts';
import { log } from '../lab/log.ts';
import { formatRows } from '../report/table.ts';

/** Longer than the deadline of the hung route, so that the callers that come back after it are measured too. */
const LOAD = { perSecond: 200, seconds: 12 };
const MAX_RATIO = 1.5;
const SETTLE_MS = 3000;
/** About what `Retry-After: 1` asks for. */
const AGAIN_MS = 1000;
/** The time after which a hung route times out: callers that start together would come again together. */
const ARRIVAL_MS = 10_000;
const WHERE = ['alone', 'elsewhere', 'here'] as const;

/** Callers whose port is not known yet. */
type Crowds = readonly Omit<CrowdOptions, 'port'>[];

/**
 * What the sound route got alone, with the callers at the other data plane, and with them at its own; and what part of
 * its core the data plane then used.
 */
type Round = Readonly<Record<(typeof WHERE)[number], Measured>> & { readonly coreUsed: number };

interface Beside {
  readonly name: string;
  readonly rounds: readonly Round[];
}

/**
 * Measures whether bad neighbours harm a sound route: its failures and its p99, alone, while they call another data
 * plane of the same machine, and while they call its own. Sets exit code 1 if a request of the sound route fails, or if
 * its p99 is more than 1.5 times as long as alone.
 */
export const bulkheads = command({
  name: 'bulkheads',
  summary: 'failures and p99 of a sound route beside hung and slow ones, and beside slow callers',
  argument: '[part of the name of the neighbours]',
  options: {
    callers: whole(5000, [2, 10_000], 'callers of the hung and the slow route'),
    bodies: whole(12_000, [1, 12_000], 'callers with slow bodies'),
    rounds: whole(3, [1, 20], 'rounds of about 45 s for each of the four kinds'),
  },
  async run(run, { callers, bodies, rounds }, [part = '']) {
    const cores = splitCores();
    await pinSelf(cores.load);
    const { stack, client } = await startStack(run);
    const route = async (name: string, path: string) => {
      const upstream = await startNodeUpstream(run);
      const service = { url: upstream.url + path, health_check: { interval_ms: 300_000 } };
      await createRoute(client, name, { service, route: { retry_count: 0 } });
      return upstream.pid;
    };
    const soundPid = await route('sound', '');
    await route('slow', '/slow');
    await route('hung', '/hung');
    const bare = (await createProxyToken(client, ['none'])).replace('Bearer ', '');
    const env = {
      // It takes calls and never answers them.
      CONTROL_PLANE_URL: `${(await startNodeUpstream(run)).url}/hung`,
      // All callers come from one address here.
      MAX_CONNECTIONS_PER_ADDRESS: '20000',
    };
    const here = await stack.startDataPlane({ env, launcher: pinned(cores.measured) });
    const elsewhere = await stack.startDataPlane({ env });
    const token = stack.adminToken;
    const load = await startPacedLoad(run, {
      urls: [`${here.baseUrl}/v1/proxy/sound`],
      authorization: `Bearer ${token}`,
    });
    const hasLargeShare = await giveLargeShare([load.pid, here.pid, soundPid]);
    await load.run(LOAD);
    const measure = async (crowds: Crowds): Promise<Round> => {
      const beside = (baseUrl: string) =>
        besideCrowds(run, crowds, Number(new URL(baseUrl).port), async () => {
          const beforeUs = usageOf(here.pid).cpuUs;
          const result = await load.run(LOAD);
          return { result, coreUsed: (usageOf(here.pid).cpuUs - beforeUs) / 1e6 / LOAD.seconds };
        });
      const alone = await load.run(LOAD);
      const other = await beside(elsewhere.baseUrl);
      const own = await beside(here.baseUrl);
      log(`failures of the sound route: ${JSON.stringify(own.result.failures)}`);
      const { coreUsed } = own;
      return { alone, elsewhere: other.result, here: own.result, coreUsed };
    };
    const all: Beside[] = [];
    for (const [name, crowds] of Object.entries(neighboursOf(callers, bodies, token, bare))) {
      if (!name.includes(part)) continue;
      const results: Round[] = [];
      for (let round = 0; round < rounds; round += 1) results.push(await measure(crowds));
      all.push({ name, rounds: results });
    }
    if (all.some(isHarmed)) process.exitCode = 1;
    process.stdout.write(
      `${tableOf(all)}\n\nTimes in ms, medians of ${rounds} rounds of ${LOAD.seconds} s with ` +
        `${LOAD.perSecond} requests/s to the sound route. _Elsewhere_: the same callers at another data plane. ` +
        `${shareSentence(hasLargeShare)}\n`,
    );
  },
});

/**
 * The bad neighbours of the sound route, by name.
 *
 * @param bare a token without a scope of the management API
 */
function neighboursOf(
  callers: number,
  bodies: number,
  token: string,
  bare: string,
): Readonly<Record<string, Crowds>> {
  const half = Math.ceil(callers / 2);
  const calls = { kind: 'calls', againMs: AGAIN_MS, arrivalMs: ARRIVAL_MS, token } as const;
  const slow = { kind: 'slow-bodies', againMs: AGAIN_MS, path: '/v1/x', callers: bodies } as const;
  return {
    [`${half} callers of a hung route, ${half} of a slow one`]: [
      { ...calls, path: '/v1/proxy/hung', callers: half },
      { ...calls, path: '/v1/proxy/slow', callers: half },
    ],
    [`${bodies} slow bodies without a token to /v1/x`]: [slow],
    [`${bodies} slow bodies with a token without a management scope`]: [{ ...slow, token: bare }],
    [`${callers} calls to a control plane that hangs`]: [{ ...calls, path: '/v1/x', callers }],
  };
}

/** Does the work while the crowds call the port. */
async function besideCrowds<T>(
  run: Run,
  crowds: Crowds,
  port: number,
  work: () => Promise<T>,
): Promise<T> {
  const { signal } = run;
  const result = await scoped(run, async (part) => {
    const order = crowds.map((crowd) => ({ ...crowd, port }));
    const script = startScript(part, new URL('crowd-process.ts', import.meta.url), order);
    // Until the connections are open.
    const openingMs = crowds.reduce((sum, { callers }) => sum + callers, 0) / 4;
    const arrivingMs = Math.max(openingMs, ...crowds.map(({ arrivalMs = 0 }) => arrivalMs));
    await delay(SETTLE_MS + arrivingMs, undefined, { signal });
    const done = await work();
    log(`the callers got ${JSON.stringify(await script.ask({}))}`);
    return done;
  });
  await delay(SETTLE_MS, undefined, { signal });
  return result;
}

const ratioTo = (which: 'alone' | 'elsewhere', { rounds }: Beside) =>
  median(rounds.map((round) => round.here.p99Ms / round[which].p99Ms));

const sumOf = (figure: 'requests' | 'failed', { rounds }: Beside) =>
  rounds.reduce((total, { here }) => total + here[figure], 0);

const isHarmed = (one: Beside) => ratioTo('alone', one) > MAX_RATIO || sumOf('failed', one) > 0;

function tableOf(all: readonly Beside[]): string {
  const times = (figure: 'p50Ms' | 'p99Ms') => {
    return ({ rounds }: Beside) =>
      WHERE.map((where) => median(rounds.map((round) => round[where][figure])).toFixed(1)).join(
        ' / ',
      );
  };
  return formatRows(all, {
    neighbours: ({ name }) => name,
    requests: (one) => String(sumOf('requests', one)),
    failed: (one) => String(sumOf('failed', one)),
    [`p50 ${WHERE.join(' / ')}`]: times('p50Ms'),
    [`p99 ${WHERE.join(' / ')}`]: times('p99Ms'),
    'here / alone': (one) => ratioTo('alone', one).toFixed(2),
    'here / elsewhere': (one) => ratioTo('elsewhere', one).toFixed(2),
    'core used': ({ rounds }) =>
      `${(median(rounds.map(({ coreUsed }) => coreUsed)) * 100).toFixed(0)} %`,
  });
}
