import { withLab, type Lab } from '../lab/lab.ts';
import { runRound, type LoadKind, type RoundResult } from '../measure/round.ts';
import { namedRows } from '../peers/all.ts';
import { gatewayRows } from '../peers/gateway.ts';
import type { Peer, PeerKind } from '../peers/peer.ts';
import { formatComparison, type Compared } from '../report/comparison.ts';

/** What `npm run bench -- compare` is given. */
export interface CompareOptions {
  /** Root of the other checkout, with its packages installed. */
  readonly folder: string;
  /** Names of the rows; empty: all of them. */
  readonly only: readonly string[];
  /** Measured seconds of each checkout for each row. */
  readonly rounds: number;
}

const CONNECTIONS = 32;
const WARM_UP_SECONDS = 10;
/** Starting one gateway takes longest with 10 000 routes. */
const START_SECONDS = 240;
const TURN_SECONDS = 2.5;

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Loads the gateways of two checkouts in turn, a second each, row by row, and prints a table. */
export async function runCompare(options: CompareOptions): Promise<void> {
  const here = namedRows(gatewayRows(), options.only);
  const there = namedRows(gatewayRows(options.folder), options.only);
  const rows = here.map((kind, index) => ({
    name: kind.name,
    kinds: [there[index] ?? kind, kind],
  }));
  const timeoutMs =
    rows.length * 2 * (START_SECONDS + WARM_UP_SECONDS + options.rounds * TURN_SECONDS) * 1000;
  await withLab(timeoutMs, async (lab) => {
    const compared: Compared[] = [];
    for (const row of rows) compared.push(await compareRow(lab, row, options.rounds));
    process.stdout.write(
      `${formatComparison(compared)}\n\n` +
        `${options.rounds} seconds of each, in turn, ${CONNECTIONS} connections, as many requests as each answers.\n`,
    );
    const rounds = compared.flatMap(({ there, here }) => [...there, ...here]);
    if (rounds.some(({ failed }) => failed > 0)) throw new Error('some responses were not 2xx');
  });
}

async function compareRow(
  { cores, site }: Lab,
  { name, kinds }: { readonly name: string; readonly kinds: readonly PeerKind[] },
  rounds: number,
): Promise<Compared> {
  log(name);
  const load = (peer: Peer, seconds: number): Promise<RoundResult> => {
    const kind: LoadKind = {
      connections: CONNECTIONS,
      seconds,
      leadInSeconds: 0,
      restMs: undefined,
    };
    return runRound(peer, kind, cores.measured, site.signal);
  };
  const started: Peer[] = [];
  try {
    for (const kind of kinds) started.push(await kind.start(site));
    const [there, here] = started as [Peer, Peer];
    for (const peer of started) await load(peer, WARM_UP_SECONDS);
    const compared = { name, there: [] as RoundResult[], here: [] as RoundResult[] };
    for (let round = 0; round < rounds; round += 1) {
      // Each is as often the one that comes first, because the first second finds the caches of the CPU colder.
      const turns = [
        { peer: there, results: compared.there },
        { peer: here, results: compared.here },
      ];
      for (const { peer, results } of round % 2 === 0 ? turns : turns.toReversed())
        results.push(await load(peer, 1));
    }
    return compared;
  } finally {
    for (const peer of started) await peer.stop();
  }
}
