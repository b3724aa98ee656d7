import { log } from '../lab/log.ts';
import type { RoundResult } from './round.ts';

/** A round is disturbed if other processes used more than this share of the measured core. */
export const DISTURBED_SHARE = 0.1;

/** How subjects take turns. */
export interface Turns<S> {
  readonly rounds: number;
  /** How a line of progress names a subject. */
  readonly nameOf: (subject: S) => string;
  readonly measure: (subject: S) => Promise<RoundResult>;
  /** Waited for before each measurement. */
  readonly quiet?: () => Promise<void>;
  /** How many disturbed measurements may be repeated. */
  readonly repeats?: number;
  /** Whether each subject is as often the first of a round: its second finds the caches of the CPU colder. */
  readonly alternate?: boolean;
}

/** Measures every subject in every round, so that a disturbance of the machine hits all of them alike. */
export async function takeTurns<S>(
  subjects: readonly S[],
  { rounds, nameOf, measure, quiet, repeats = 0, alternate = false }: Turns<S>,
): Promise<ReadonlyMap<S, readonly RoundResult[]>> {
  const results = new Map<S, RoundResult[]>(subjects.map((subject) => [subject, []]));
  let repeatsLeft = repeats;
  for (let round = 0; round < rounds; round += 1) {
    const order = alternate && round % 2 === 1 ? subjects.toReversed() : subjects;
    for (const subject of order) {
      await quiet?.();
      let result = await measure(subject);
      while (result.foreignShare > DISTURBED_SHARE && repeatsLeft > 0) {
        repeatsLeft -= 1;
        await quiet?.();
        const again = await measure(subject);
        if (again.foreignShare < result.foreignShare) result = again;
      }
      results.get(subject)?.push(result);
      log(
        `${round + 1}/${rounds} ${nameOf(subject).padEnd(40)} ` +
          `${result.requestsPerSecond.toFixed(0).padStart(8)}/s ${result.cpuUsPerRequest.toFixed(1).padStart(8)} µs` +
          (result.failed === 0 ? '' : `, ${result.failed} failed`),
      );
    }
  }
  return results;
}
