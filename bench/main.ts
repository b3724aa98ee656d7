import { withLab, type Lab } from './lab.ts';
import { parseOptions, type BenchOptions } from './options.ts';
import { chooseKinds } from './peers/all.ts';
import type { Peer, PeerKind } from './peers/peer.ts';
import { writeSection } from './report/document.ts';
import { describeRun } from './report/machine.ts';
import { summarize, type Row } from './report/row.ts';
import { formatTable } from './report/table.ts';
import { MAX_QUIET_WAIT_MS, MAX_REPEATS, runRows } from './run-rows.ts';

const DOCUMENT = new URL('../docs/benchmarks.md', import.meta.url);
/** Most of it goes into the row with 10 000 routes. */
const START_SECONDS = 240;
/** From one row's load to the next. */
const TURN_SECONDS = 0.5;

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** The most that a run may take, on a machine that others use throughout. */
function boundMs(options: BenchOptions, rows: number): number {
  const { rounds, roundSeconds, warmUpSeconds } = options;
  const turns = rows * rounds + MAX_REPEATS;
  const load = rows * warmUpSeconds + turns * (roundSeconds + TURN_SECONDS);
  return (START_SECONDS + load) * 1000 + MAX_QUIET_WAIT_MS;
}

async function measure(
  lab: Lab,
  kinds: readonly PeerKind[],
  options: BenchOptions,
): Promise<readonly Row[]> {
  const peers: Peer[] = [];
  for (const kind of kinds) {
    log(`starting ${kind.name}`);
    const peer = await kind.start(lab.site);
    lab.runner.defer(kind.name, peer.stop);
    peers.push(peer);
  }
  const { cores, site } = lab;
  const results = await runRows(peers, cores, options, site.signal, log);
  const [reference = []] = results.values();
  return [...results].map(([peer, rounds]) => summarize(peer.name, rounds, reference));
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  const kinds = chooseKinds(options.only);
  await withLab(boundMs(options, kinds.length), async (lab) => {
    const rows = await measure(lab, kinds, options);
    const { rounds, roundSeconds, connections } = options;
    const text = [
      formatTable(rows),
      '',
      `Medians of ${rounds} rounds of ${roundSeconds} s without those disturbed, ${connections} connections.`,
      '',
      await describeRun(kinds, new Date()),
    ].join('\n');
    process.stdout.write(`${text}\n`);
    if (rows.some((row) => row.failed > 0)) process.exitCode = 1;
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
