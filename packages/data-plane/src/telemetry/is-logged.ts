import type { Outcome } from '@gateway/shared/records/record';
import type { RouteSettings } from '../routing-table/routing-table.ts';

/** Always logged while the log of the route is on: an operator who looks for a failure must find it. */
const FAILURES: ReadonlySet<Outcome> = new Set([
  'upstream_error',
  'upstream_unavailable',
  'timeout',
]);

/**
 * Whether a finished request has a line in the log.
 *
 * @param policy that of its route; undefined: it has no route
 * @param random returns numbers in [0, 1). Not derived from the trace id, which a caller may choose.
 */
export function isLogged(
  policy: RouteSettings['access_log'] | undefined,
  outcome: Outcome,
  random: () => number,
): boolean {
  if (policy === undefined) return true;
  if (!policy.enabled) return false;
  const { sample_ratio: ratio } = policy;
  return ratio === 1 || FAILURES.has(outcome) || random() < ratio;
}
