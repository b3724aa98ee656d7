import type { HealthCheckPolicy } from '../../routing-table/routing-table.ts';

/** After a check that says something new the next one follows sooner, so that the verdict is not late. */
const CONFIRM_BAD_MS = 500;
const CONFIRM_BAD_PART = 1 / 4;
const CONFIRM_GOOD_PART = 1 / 2;
/** Intervals are shortened by up to this part, at random, so that no two data planes keep step. */
const JITTER_PART = 1 / 10;
const FIRST_SPREAD_MS = 200;
const FIRST_SPREAD_PER_UPSTREAM_MS = 0.5;

/** How long after the beginning of one check the next one begins where failures are to be confirmed, ms. */
export function confirmBadMs({ intervalMs }: HealthCheckPolicy): number {
  return Math.min(CONFIRM_BAD_MS, intervalMs * CONFIRM_BAD_PART);
}

/**
 * How long after the beginning of a check the next one begins, ms.
 *
 * @param unsettled what checks have begun to say, where it is not yet believed
 * @param random a number in [0, 1)
 */
export function nextCheckMs(
  policy: HealthCheckPolicy,
  unsettled: 'good' | 'bad' | undefined,
  random: number,
): number {
  if (unsettled === 'bad') return confirmBadMs(policy);
  if (unsettled === 'good') return policy.intervalMs * CONFIRM_GOOD_PART;
  return policy.intervalMs * (1 - JITTER_PART * random);
}

/**
 * When the first check of an upstream begins, ms from now: soon, yet spread over as much time as there
 * are upstreams that begin together, up to one interval.
 *
 * @param together how many begin
 * @param random a number in [0, 1)
 */
export function firstCheckMs(policy: HealthCheckPolicy, together: number, random: number): number {
  const spreadMs = FIRST_SPREAD_MS + together * FIRST_SPREAD_PER_UPSTREAM_MS;
  return random * Math.min(spreadMs, policy.intervalMs);
}
