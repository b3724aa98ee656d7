import type { RoundResult } from '../measure/round.ts';
import { median } from '../measure/statistics.ts';

/** A line of the table: medians over the rounds, and the ratio to nginx within the same rounds. */
export interface Row {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly cpuUsPerRequest: number;
  readonly ratio: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly residentMb: number;
  /** Requests that did not get a 2xx, over all rounds. A row with any is invalid. */
  readonly failed: number;
  readonly foreignShare: number;
}

/** Above this share of the measured core lost to others, a round tells more of them than of the row. */
export const DISTURBED_SHARE = 0.1;
const MIN_UNDISTURBED = 3;

/**
 * Sums up a row over the rounds in which neither it nor nginx was disturbed, where there are at least
 * three of them, else over all: a disturbed nginx would flatter the others. The ratio is the median of
 * each round's own ratio, so that what lasts longer than a round hits both sides of it.
 */
export function summarize(
  name: string,
  rounds: readonly RoundResult[],
  reference: readonly RoundResult[],
): Row {
  const pairs = rounds.map((round, index) => ({ round, nginx: reference[index] }));
  const undisturbed = pairs.filter(
    ({ round, nginx }) => !isDisturbed(round) && (nginx === undefined || !isDisturbed(nginx)),
  );
  const used = undisturbed.length >= MIN_UNDISTURBED ? undisturbed : pairs;
  const of = (value: (round: RoundResult) => number) =>
    median(used.map(({ round }) => value(round)));
  const ratios = used.map(
    ({ round, nginx }) => round.cpuUsPerRequest / (nginx?.cpuUsPerRequest ?? NaN),
  );
  return {
    name,
    requestsPerSecond: of((round) => round.requestsPerSecond),
    cpuUsPerRequest: of((round) => round.cpuUsPerRequest),
    ratio: median(ratios),
    p50Us: of((round) => round.p50Us),
    p99Us: of((round) => round.p99Us),
    residentMb: of((round) => round.residentBytes) / 1e6,
    failed: rounds.reduce((sum, round) => sum + round.failed, 0),
    foreignShare: of((round) => round.foreignShare),
  };
}

function isDisturbed(round: RoundResult): boolean {
  return round.foreignShare > DISTURBED_SHARE;
}
