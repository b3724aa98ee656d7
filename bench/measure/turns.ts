import { log } from '../lab/log.ts';
import type { RoundResult } from './round.ts';
import { percentile } from './statistics.ts';

/** How subjects take turns. */
export interface Turns<S> {
  readonly rounds: number;
  /** How a line of progress names a subject. */
  readonly nameOf: (subject: S) => string;
  readonly measure: (subject: S) => Promise<RoundResult>;
  /** Whether each subject is as often the first of a round: its second finds the caches of the CPU colder. */
  readonly alternate?: boolean;
}

/** Measures every subject in every round, so that a disturbance of the machine hits all of them alike. */
export async function takeTurns<S>(
  subjects: readonly S[],
  { rounds, nameOf, measure, alternate = false }: Turns<S>,
): Promise<ReadonlyMap<S, readonly RoundResult[]>> {
  const results = new Map<S, RoundResult[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < rounds; round += 1) {
    const order = alternate && round % 2 === 1 ? subjects.toReversed() : subjects;
    for (const subject of order) {
      const result = await measure(subject);
      results.get(subject)?.push(result);
      const figures = `${result.requestsPerSecond.toFixed(0)}/s, ${result.cpuUsPerRequest.toFixed(1)} µs`;
      log(`${round + 1}/${rounds} ${nameOf(subject)}: ${figures}, ${result.failed} failed`);
    }
  }
  return results;
}

/**
 * The lower quartile of the CPU time of a request over the rounds: other work on the machine only ever adds to it.
 */
export const leastCpuUs = (rounds: readonly RoundResult[]) =>
  percentile(
    rounds.map(({ cpuUsPerRequest }) => cpuUsPerRequest),
    0.25,
  );
