import { log } from '../report/log.ts';
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

/** Loads the gateways of two checkouts in turn, a second each, row by row, and prints a table. */
export async function runCompare(options: CompareOptions): Promise<void> {
  const here = namedRows(gatewayRows(), options.only);
  const there = namedRows(gatewayRows({ checkout: options.folder }), options.only);
  const timeoutMs =
    here.length * 2 * (START_SECONDS + WARM_UP_SECONDS + options.rounds * TURN_SECONDS) * 1000;
  await withLab(timeoutMs, async (lab) => {
    const compared: Compared[] = [];
    for (const [index, kind] of here.entries()) {
      compared.push(await compareRow(lab, there[index] ?? kind, kind, options.rounds));
    }
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
  kindThere: PeerKind,
  kindHere: PeerKind,
  rounds: number,
): Promise<Compared> {
  log(kindHere.name);
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
  const start = async (kind: PeerKind) => {
    const peer = await kind.start(site);
    started.push(peer);
    return { peer, results: [] as RoundResult[] };
  };
  try {
    const there = await start(kindThere);
    const here = await start(kindHere);
    for (const peer of started) await load(peer, WARM_UP_SECONDS);
    for (let round = 0; round < rounds; round += 1) {
      // Each is as often the one that comes first, because the first second finds the caches of the CPU colder.
      const turns = round % 2 === 0 ? [there, here] : [here, there];
      for (const { peer, results } of turns) results.push(await load(peer, 1));
    }
    return { name: kindHere.name, there: there.results, here: here.results };
  } finally {
    for (const peer of started) await peer.stop();
  }
}
