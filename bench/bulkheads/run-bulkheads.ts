import { createPlaneStack } from '@gateway/testing/processes';
import { UndoList } from '@gateway/shared/test/undo-list';
import { steadyLoad, type SteadyResult } from '../attack/steady-load.ts';
import { pinSelf, splitCores } from '../lab/cores.ts';
import { ForkedUpstreams } from '../lab/forked-upstreams.ts';
import { untilInterrupted } from '../lab/interruption.ts';
import { usageOf } from '../measure/process-tree.ts';
import { median } from '../measure/statistics.ts';
import { BENCHMARKS, writeSection } from '../report/document.ts';
import { formatCells } from '../report/table.ts';
import { besideCrowds } from './beside-crowds.ts';
import { neighboursOf, type Crowds } from './neighbours.ts';
import { giveRealTime } from '../lab/priority.ts';
import { startTargets, type Targets } from './targets.ts';

/** What `npm run bench -- bulkheads` is given. */
export interface BulkheadsOptions {
  /** Only the neighbours whose name contains this. */
  readonly name: string;
  /** Callers of the bad routes, together. */
  readonly callers: number;
  /** Callers with slow bodies. */
  readonly bodies: number;
  readonly rounds: number;
  /** Whether the table goes into the document too. */
  readonly write: boolean;
}

/** Longer than the deadline of the hung route, so that the callers that come back after it are measured too. */
const SECONDS = 12;
const CALLS_PER_SECOND = 200;
const MAX_RATIO = 1.5;
const HEAD = [
  'neighbours',
  'requests',
  'failed',
  'p50 alone / elsewhere / here',
  'p99 alone / elsewhere / here',
  'here / alone',
  'here / elsewhere',
  'core used',
];

interface Round {
  readonly alone: SteadyResult;
  /** With the callers at the other data plane. */
  readonly elsewhere: SteadyResult;
  /** With the callers at the measured data plane. */
  readonly here: SteadyResult;
  /** Of the measured data plane, with its callers, as a part of its core. */
  readonly coreUsed: number;
}

type Measure = () => Promise<SteadyResult>;

/**
 * Measures whether bad neighbours harm a sound route: its failures and its p99, alone, while they call another data
 * plane of the same machine, and while they call its own. Sets exit code 1 if a request of the sound route fails, or if
 * its p99 is more than 1.5 times as long as alone.
 */
export function runBulkheads(options: BulkheadsOptions): Promise<void> {
  return untilInterrupted((signal) => runUntil(signal, options));
}

async function runUntil(signal: AbortSignal, options: BulkheadsOptions): Promise<void> {
  const cores = splitCores();
  await pinSelf(cores.load);
  const undo = new UndoList();
  const script = new URL('../attack/upstream-process.ts', import.meta.url);
  const upstreams = new ForkedUpstreams(script, signal);
  undo.add(() => upstreams.stop());
  try {
    const stack = await createPlaneStack();
    undo.add(() => stack.close());
    const targets = await startTargets(stack, upstreams, cores);
    const token = stack.adminToken;
    const isFirst = await giveRealTime([process.pid, targets.pid, targets.soundPid]);
    const target = { url: targets.url, token };
    const load = () =>
      steadyLoad({ ...target, perSecond: CALLS_PER_SECOND, seconds: SECONDS, signal });
    await load();
    const neighbours = neighboursOf({ ...options, token, bareToken: targets.bareToken });
    const rows: string[][] = [];
    for (const [name, crowds] of Object.entries(neighbours)) {
      if (!name.includes(options.name)) continue;
      const rounds: Round[] = [];
      for (let round = 0; round < options.rounds; round += 1) {
        rounds.push(await measure(crowds, targets, load, signal));
      }
      rows.push(cells(name, rounds));
    }
    await report(rows, isFirst, options);
  } finally {
    await undo.run();
  }
}

async function measure(
  crowds: Crowds,
  targets: Targets,
  load: Measure,
  signal: AbortSignal,
): Promise<Round> {
  const alone = await load();
  const elsewhere = await besideCrowds(crowds, targets.otherPort, signal, load);
  const beside = await besideCrowds(crowds, targets.port, signal, async () => {
    const beforeUs = usageOf(targets.pid).cpuUs;
    const here = await load();
    return { here, coreUsed: (usageOf(targets.pid).cpuUs - beforeUs) / 1e6 / SECONDS };
  });
  const callersGot = beside.reports.map(({ statuses }) => JSON.stringify(statuses)).join(' ');
  const failures = JSON.stringify(beside.result.here.failures);
  process.stderr.write(`the callers got ${callersGot}; failures of the sound route: ${failures}\n`);
  return { alone, elsewhere: elsewhere.result, ...beside.result };
}

/** A row of the table; sets the exit code if the neighbours do harm. */
function cells(name: string, rounds: readonly Round[]): string[] {
  const times = (of: (result: SteadyResult) => number) =>
    (['alone', 'elsewhere', 'here'] as const)
      .map((which) => median(rounds.map((round) => of(round[which]))).toFixed(1))
      .join(' / ');
  const ratioTo = (which: 'alone' | 'elsewhere') =>
    median(rounds.map((round) => round.here.p99Ms / round[which].p99Ms));
  const failed = rounds.reduce((sum, { here }) => sum + here.failed, 0);
  if (ratioTo('alone') > MAX_RATIO || failed > 0) process.exitCode = 1;
  return [
    name,
    String(rounds.reduce((sum, { here }) => sum + here.calls, 0)),
    String(failed),
    times(({ p50Ms }) => p50Ms),
    times(({ p99Ms }) => p99Ms),
    ratioTo('alone').toFixed(2),
    ratioTo('elsewhere').toFixed(2),
    `${(median(rounds.map(({ coreUsed }) => coreUsed)) * 100).toFixed(0)} %`,
  ];
}

async function report(
  rows: readonly (readonly string[])[],
  isFirst: boolean,
  { rounds, write }: BulkheadsOptions,
): Promise<void> {
  const text =
    `${formatCells(HEAD, rows)}\n\nTimes in ms, medians of ${rounds} rounds of ${SECONDS} s with ` +
    `${CALLS_PER_SECOND} requests/s to the sound route. _Elsewhere_: the same callers at another data plane. ` +
    (isFirst
      ? 'The data plane, the upstream of the sound route and the load have real-time scheduling.'
      : 'Without real-time scheduling, which needs the rights of root.');
  process.stdout.write(`${text}\n`);
  if (write) await writeSection(BENCHMARKS, 'bulkheads', text);
}
