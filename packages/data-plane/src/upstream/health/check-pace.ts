import type { HealthCheckPolicy } from '../../routing-table/routing-table.ts';

/** After a check with a new result the next one follows sooner, so that the health changes soon. */
const CONFIRM_BAD_MS = 500;
const CONFIRM_BAD_PART = 1 / 4;
const CONFIRM_GOOD_PART = 1 / 2;
/** The time in which a suspected hang is confirmed by checks, ms. */
const CONFIRM_HANG_MS = 800;
/** The least time between a good check and a check that is to confirm a hang. */
const HANG_GAP_MS = 150;
/** A check takes at most this many times as long as the last good one, unless the upstream hangs. */
const HANG_FACTOR = 4;
/** Intervals are shortened at random by up to this part, so that data planes do not check at the same time. */
const JITTER_PART = 1 / 10;
const FIRST_SPREAD_MS = 200;
const FIRST_SPREAD_PER_UPSTREAM_MS = 0.5;

/** The time between the starts of two checks while a failure is to be confirmed, ms. */
export function confirmBadMs({ intervalMs }: HealthCheckPolicy): number {
  return Math.min(CONFIRM_BAD_MS, intervalMs * CONFIRM_BAD_PART);
}

/** The time from the start of the last check to the first one that is to confirm a hang, ms. */
export function hangGapMs(policy: HealthCheckPolicy): number {
  return Math.min(HANG_GAP_MS, confirmBadMs(policy));
}

/**
 * The timeout of a check that is to confirm a hang, ms. The next check starts when it is over, so that all of them together
 * take less than a second.
 *
 * @param lastGoodMs how long the last good check took; undefined if there was none
 */
export function hangCheckMs(
  policy: Pick<HealthCheckPolicy, 'timeoutMs' | 'unhealthyThreshold'>,
  lastGoodMs: number | undefined,
): number {
  if (lastGoodMs === undefined) return policy.timeoutMs;
  const partMs = CONFIRM_HANG_MS / policy.unhealthyThreshold;
  return Math.min(policy.timeoutMs, Math.max(Math.floor(partMs), lastGoodMs * HANG_FACTOR));
}

/**
 * The time from the start of a check to the start of the next one, ms.
 *
 * @param unsettled the result of the last checks, if it has not changed the health yet
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
 * The time until the first check of an upstream, ms. The first checks of upstreams that are added together are spread
 * over a time that grows with their number, up to one interval.
 *
 * @param together the number of upstreams that are added together
 * @param random a number in [0, 1)
 */
export function firstCheckMs(policy: HealthCheckPolicy, together: number, random: number): number {
  const spreadMs = FIRST_SPREAD_MS + together * FIRST_SPREAD_PER_UPSTREAM_MS;
  return random * Math.min(spreadMs, policy.intervalMs);
}
