import { withLab, type Lab } from './lab.ts';
import type { LoadKind } from './measure/round.ts';
import { parseOptions, type BenchOptions } from './options.ts';
import { chooseKinds } from './peers/all.ts';
import type { Peer, PeerKind } from './peers/peer.ts';
import { writeSection } from './report/document.ts';
import { describeRun } from './report/machine.ts';
import { summarize, type Row } from './report/row.ts';
import { formatTable } from './report/table.ts';
import { MAX_QUIET_WAIT_MS, MAX_REPEATS, runRows, warmUp, type RowsRun } from './run-rows.ts';

const DOCUMENT = new URL('../docs/understand/benchmarks.md', import.meta.url);
/** Most of it goes into the row with 10 000 routes. */
const START_SECONDS = 240;
/** From one row's load to the next. */
const TURN_SECONDS = 0.5;
/**
 * Of a connection between its requests at the same load, ms: with 32 connections nearly 4000 requests/s,
 * well below what a data plane answers on a core.
 */
const REST_MS = '4-12';
/** A round at the same load is so many times longer, as the kernel accounts in steps of 10 ms. */
const SAME_LOAD_FACTOR = 3;

/** Before each figure. */
const LEAD_IN_SECONDS = 2;

/** The figures of all rows under both loads. */
interface Tables {
  readonly sameLoad: readonly Row[];
  readonly saturated: readonly Row[];
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** The most that a run may take, on a machine that others use throughout. */
function boundMs(options: BenchOptions, rows: number): number {
  const { rounds, roundSeconds, warmUpSeconds } = options;
  const turns = 2 * (rows * rounds + MAX_REPEATS);
  const turn = LEAD_IN_SECONDS + roundSeconds * SAME_LOAD_FACTOR + 2 * TURN_SECONDS;
  return (START_SECONDS + rows * warmUpSeconds + turns * turn) * 1000 + 2 * MAX_QUIET_WAIT_MS;
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

async function measure(lab: Lab, peers: readonly Peer[], options: BenchOptions): Promise<Tables> {
  const run: RowsRun = { cores: lab.cores, signal: lab.site.signal, log };
  const { connections, rounds, roundSeconds, warmUpSeconds } = options;
  const each = { connections, leadInSeconds: LEAD_IN_SECONDS };
  const saturating: LoadKind = { ...each, seconds: roundSeconds, restMs: undefined };
  const same = { ...each, seconds: roundSeconds * SAME_LOAD_FACTOR, restMs: REST_MS };
  await warmUp(peers, { ...saturating, seconds: warmUpSeconds, leadInSeconds: 0 }, run);
  const rowsOf = async (kind: LoadKind) => {
    const results = await runRows(peers, kind, rounds, run);
    const [reference = []] = results.values();
    return [...results].map(([peer, all]) => summarize(peer.name, all, reference));
  };
  return { saturated: await rowsOf(saturating), sameLoad: await rowsOf(same) };
}

function report({ sameLoad, saturated }: Tables, options: BenchOptions, run: string): string {
  const { rounds, roundSeconds, connections } = options;
  return [
    `The same load for all, ${connections} connections that rest ${REST_MS} ms between their requests:`,
    '',
    formatTable(sameLoad),
    '',
    `As many requests as each answers, ${connections} connections:`,
    '',
    formatTable(saturated),
    '',
    `Medians of ${rounds} rounds of ${roundSeconds * SAME_LOAD_FACTOR} s and ${roundSeconds} s ` +
      `without those disturbed, each after ${LEAD_IN_SECONDS} s of the same.`,
    '',
    run,
  ].join('\n');
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  const kinds = chooseKinds(options.only);
  await withLab(boundMs(options, kinds.length), async (lab) => {
    const tables = await measure(lab, await startPeers(lab, kinds), options);
    const text = report(tables, options, await describeRun(kinds, new Date()));
    process.stdout.write(`${text}\n`);
    const failed = [...tables.sameLoad, ...tables.saturated].some((row) => row.failed > 0);
    if (failed) process.exitCode = 1;
    else if (options.write && options.only.length === 0)
      await writeSection(DOCUMENT, 'table', text);
  });
}

try {
  await main();
} catch (error) {
  log(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
