import type { Lab } from '../lab/lab.ts';
import { giveLargeShare } from '../lab/priority.ts';
import { refuseClosed, type HeldConnections } from '../load/hold-connections.ts';
import { runRound, type LoadKind } from '../measure/round.ts';
import { percentile } from '../measure/statistics.ts';
import type { Peer } from '../peers/peer.ts';
import { log } from '../report/log.ts';
import type { Series } from './chart/line-chart.ts';

/** A point of a curve: a load on a running gateway. */
export interface Subject {
  readonly series: string;
  readonly x: number;
  readonly peer: Peer;
  /** What differs from the load of the other points. */
  readonly load?: Partial<LoadKind>;
  /** Connections that stay open beside the load. */
  readonly idle?: HeldConnections;
}

export interface Visits {
  readonly rounds: number;
  readonly warmUpSeconds: number;
}

/** Said below each table that `visitInTurn` gave the figures of. */
export const IN_TURN =
  'The lower quartile of rounds of 1 s in which all points take turns, each after 1 s of load that is not measured.';

/** The point before may have left the CPU's caches empty: one of large bodies made the next one cost a fifth more. */
const LEAD_IN_SECONDS = 1;

const CONNECTIONS = 32;

/**
 * Loads each point in each round and gives its CPU time per request, µs. Other work on the machine hits all points alike
 * and only ever adds CPU time, so the lower quartile of the rounds is taken.
 *
 * @throws if a response is not 2xx, or an idle connection was closed
 */
export async function visitInTurn(
  subjects: readonly Subject[],
  { rounds, warmUpSeconds }: Visits,
  { cores, site, upstreamPid }: Lab,
): Promise<readonly Series[]> {
  const peers = [...new Set(subjects.map(({ peer }) => peer))];
  await giveLargeShare([upstreamPid, ...peers.map(({ pid }) => pid)]);
  const costs = new Map<Subject, number[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [subject, all] of costs) {
      const kind: LoadKind = {
        connections: CONNECTIONS,
        seconds: round === 0 ? warmUpSeconds : 1,
        leadInSeconds: LEAD_IN_SECONDS,
        restMs: undefined,
        ...subject.load,
      };
      const result = await runRound(subject.peer, kind, cores.measured, site.signal);
      const { series, x, idle } = subject;
      if (idle !== undefined) refuseClosed(idle);
      log(
        `${round === 0 ? 'warm-up' : `round ${round}`}: ${series}, ${x}: ` +
          `${result.cpuUsPerRequest.toFixed(1)} µs, ${result.requestsPerSecond.toFixed(0)}/s`,
      );
      if (round === 0) continue;
      if (result.failed > 0) throw new Error(`${series}, ${x}: ${result.failed} requests failed`);
      all.push(result.cpuUsPerRequest);
    }
  }
  return seriesOf(
    subjects.map((subject) => ({ ...subject, y: percentile(costs.get(subject) ?? [], 0.25) })),
  );
}

/** Groups points by the name of their series, in the order in which the names come first. */
function seriesOf(
  points: readonly { readonly series: string; readonly x: number; readonly y: number }[],
): readonly Series[] {
  const names = [...new Set(points.map(({ series }) => series))];
  return names.map((name) => ({
    name,
    points: points.filter(({ series }) => series === name).map(({ x, y }) => ({ x, y })),
  }));
}
