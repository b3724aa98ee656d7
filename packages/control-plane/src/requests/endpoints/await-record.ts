import { pause, type Clock } from '@gateway/shared/clock';

/** The record of a request younger than this may not have arrived yet. */
const YOUNG_MS = 5000;
const MAX_WAIT_MS = 2000;
/** The delay between two queries: a quarter of the time waited so far, within these bounds. */
const MIN_POLL_MS = 40;
const MAX_POLL_MS = 200;
const POLL_SHARE = 1 / 4;

/**
 * The result of `find`. If the request is so young that its record may still be on its way, the query is repeated
 * until the record is found or the time is up. The clock of the data plane may be ahead. The delay grows, because ids
 * that do not exist would otherwise cost Postgres fifty queries each.
 *
 * @param receivedAtMs when the request was received, ms since the Unix epoch
 * @param signal ends the wait at once
 */
export async function awaitRecord<T>(
  find: () => Promise<T | undefined>,
  receivedAtMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<T | undefined> {
  const isYoung = Math.abs(clock.nowMs() - receivedAtMs) < YOUNG_MS;
  const startMs = clock.monotonicMs();
  const maxMs = isYoung ? MAX_WAIT_MS : 0;
  for (;;) {
    const found = await find();
    const waitedMs = clock.monotonicMs() - startMs;
    if (found !== undefined || waitedMs >= maxMs || signal.aborted) return found;
    const pollMs = Math.min(Math.max(MIN_POLL_MS, waitedMs * POLL_SHARE), MAX_POLL_MS);
    await pause(clock, Math.min(pollMs, maxMs - waitedMs), signal);
  }
}
