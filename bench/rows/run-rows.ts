import { log } from '../report/log.ts';
import { withLab, type Lab } from '../lab/lab.ts';
import type { LoadKind, RoundResult } from '../measure/round.ts';
import { chooseRows } from '../peers/all.ts';
import type { Peer, PeerKind } from '../peers/peer.ts';
import { BENCHMARKS, writeSection } from '../report/document.ts';
import { describeRun } from '../report/machine.ts';
import { summarize, type Row } from '../report/row.ts';
import { formatTable } from '../report/table.ts';
import { MAX_QUIET_WAIT_MS, MAX_REPEATS, runRounds, warmUp, type RowsRun } from './rounds.ts';

/** What `npm run bench -- rows` is given. */
export interface RowsOptions {
  /** Names of the rows; empty: all of them. */
  readonly only: readonly string[];
  /** Measured rounds; each visits every row once. */
  readonly rounds: number;
  readonly roundSeconds: number;
  readonly warmUpSeconds: number;
  readonly connections: number;
  /** Whether docs/understand/benchmarks.md gets the tables. A run of some rows never writes them. */
  readonly write: boolean;
}

/** Most of it is for a row with 10 000 routes. */
const START_SECONDS = 240;
/** Between the load of one row and that of the next. */
const TURN_SECONDS = 0.5;
/**
 * Pause of a connection between its requests at the same load, ms: 32 connections then send nearly 4000
 * requests/s, far fewer than a data plane can answer on one core.
 */
const REST_MS = '4-12';
/** A round at the same load is this many times as long, because the kernel accounts in steps of 10 ms. */
export const SAME_LOAD_FACTOR = 3;
/** Load before each measurement. */
export const LEAD_IN_SECONDS = 2;

type Results = ReadonlyMap<Peer, readonly RoundResult[]>;

/** Measures all chosen rows under both loads and prints the tables. */
export async function runRows(options: RowsOptions): Promise<void> {
  const kinds = chooseRows(options.only);
  const run = async (lab: Lab) => {
    const peers = await startPeers(lab, kinds);
    const { saturated, sameLoad } = await measure(lab, peers, options);
    const text = [
      `The same load for all, ${options.connections} connections that rest ${REST_MS} ms between their requests:`,
      formatTable(rowsOf(sameLoad)),
      `As many requests as each answers, ${options.connections} connections:`,
      formatTable(rowsOf(saturated)),
      `Medians of ${options.rounds} rounds of ${options.roundSeconds * SAME_LOAD_FACTOR} s and ` +
        `${options.roundSeconds} s without those disturbed, each after ${LEAD_IN_SECONDS} s of the same.`,
      await describeRun(kinds, new Date()),
    ].join('\n\n');
    process.stdout.write(`${text}\n`);
    const failed = [...rowsOf(sameLoad), ...rowsOf(saturated)].some((row) => row.failed > 0);
    if (failed) process.exitCode = 1;
    else if (options.write && options.only.length === 0)
      await writeSection(BENCHMARKS, 'table', text);
  };
  const needed = kinds.flatMap(({ needs }) => needs ?? []);
  await withLab(maxRunMs(options, kinds), run, needed);
}

/** The longest that a run may take on a machine that others use all the time. */
function maxRunMs(options: RowsOptions, kinds: readonly PeerKind[]): number {
  const { rounds, roundSeconds, warmUpSeconds } = options;
  const turns = 2 * (kinds.length * rounds + MAX_REPEATS);
  const turn = LEAD_IN_SECONDS + roundSeconds * SAME_LOAD_FACTOR + 2 * TURN_SECONDS;
  return (
    (START_SECONDS + kinds.length * warmUpSeconds + turns * turn) * 1000 + 2 * MAX_QUIET_WAIT_MS
  );
}

async function startPeers(lab: Lab, kinds: readonly PeerKind[]): Promise<readonly Peer[]> {
  const peers: Peer[] = [];
  for (const kind of kinds) {
    log(`starting ${kind.name}`);
    const peer = await kind.start(lab.site);
    lab.runner.defer(kind.name, peer.stop);
    peers.push(peer);
  }
  return peers;
}

async function measure(
  lab: Lab,
  peers: readonly Peer[],
  options: RowsOptions,
): Promise<{ readonly saturated: Results; readonly sameLoad: Results }> {
  const run: RowsRun = { cores: lab.cores, signal: lab.site.signal, log };
  const { connections, rounds, roundSeconds, warmUpSeconds } = options;
  const saturating: LoadKind = {
    connections,
    leadInSeconds: LEAD_IN_SECONDS,
    seconds: roundSeconds,
    restMs: undefined,
  };
  const same = { ...saturating, seconds: roundSeconds * SAME_LOAD_FACTOR, restMs: REST_MS };
  await warmUp(peers, { ...saturating, seconds: warmUpSeconds, leadInSeconds: 0 }, run);
  return {
    saturated: await runRounds(peers, saturating, rounds, run),
    sameLoad: await runRounds(peers, same, rounds, run),
  };
}

/** The first row, nginx, is the reference of all others. */
function rowsOf(results: Results): readonly Row[] {
  const [reference = []] = results.values();
  return [...results].map(([peer, rounds]) => summarize(peer.name, rounds, reference));
}
