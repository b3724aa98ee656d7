import type { RoundResult } from '../measure/round.ts';
import { median, medianInterval } from '../measure/statistics.ts';

/** A line of the table: medians over the rounds, and the median ratio to nginx in the same round. */
export interface Row {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly cpuUsPerRequest: number;
  readonly ratio: number;
  /** Where the median of all possible rounds lies with a confidence of 95 %; NaN if there are too few rounds. */
  readonly ratioInterval: readonly [number, number];
  readonly p50Us: number;
  readonly p99Us: number;
  readonly residentMb: number;
  /** Requests of all rounds without a 2xx response. Any makes the row invalid. */
  readonly failed: number;
  readonly foreignShare: number;
}

/** A round is disturbed if other processes used more than this share of the measured core. */
const DISTURBED_SHARE = 0.1;
const MIN_UNDISTURBED = 3;

/**
 * Summarizes a row over the rounds in which neither the row nor the reference was disturbed, or over all rounds if there
 * are fewer than three of those. A disturbed reference would make the row look better. The ratio is the median of
 * each round's own ratio, so that a disturbance longer than a round hits both sides.
 *
 * @param reference the rounds of nginx, or of the row to compare with
 */
export function summarize(
  name: string,
  rounds: readonly RoundResult[],
  reference: readonly RoundResult[],
): Row {
  const isDisturbed = ({ foreignShare }: RoundResult) => foreignShare > DISTURBED_SHARE;
  const pairs = rounds.map((round, index) => ({ round, base: reference[index] ?? round }));
  const undisturbed = pairs.filter(({ round, base }) => !isDisturbed(round) && !isDisturbed(base));
  const used = undisturbed.length >= MIN_UNDISTURBED ? undisturbed : pairs;
  const of = (value: (round: RoundResult) => number) =>
    median(used.map(({ round }) => value(round)));
  const ratios = used.map(({ round, base }) => round.cpuUsPerRequest / base.cpuUsPerRequest);
  return {
    name,
    requestsPerSecond: of((round) => round.requestsPerSecond),
    cpuUsPerRequest: of((round) => round.cpuUsPerRequest),
    ratio: median(ratios),
    ratioInterval: medianInterval(ratios),
    p50Us: of((round) => round.p50Us),
    p99Us: of((round) => round.p99Us),
    residentMb: of((round) => round.residentBytes) / 1e6,
    failed: rounds.reduce((sum, round) => sum + round.failed, 0),
    foreignShare: of((round) => round.foreignShare),
  };
}
