import { pause, type Clock } from '@gateway/shared/clock';

/** A request this young may have its record still on the way. */
const YOUNG_MS = 5000;
const LONGEST_WAIT_MS = 2000;
/** Looked for at first this often, then at a quarter of the time that it took so far, ms. */
const FIRST_POLL_MS = 40;
const MAX_POLL_MS = 200;
const POLL_PART = 1 / 4;

/**
 * What `find` gives, waiting for it where the request is so young that its record may still be on its
 * way through the stream. "Young" allows for a data plane whose clock is ahead. Looked for less and less
 * often: a caller who asks for ids that no request has would cost Postgres fifty queries for each.
 *
 * @param receivedAtMs when the request was received, ms since the Unix epoch.
 * @param signal ends the wait at once.
 */
export async function awaitRecord<T>(
  find: () => Promise<T | undefined>,
  receivedAtMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<T | undefined> {
  const isYoung = Math.abs(clock.nowMs() - receivedAtMs) < YOUNG_MS;
  const startMs = clock.monotonicMs();
  const longestMs = isYoung ? LONGEST_WAIT_MS : 0;
  for (;;) {
    const found = await find();
    const waitedMs = clock.monotonicMs() - startMs;
    if (found !== undefined || waitedMs >= longestMs || signal.aborted) return found;
    const pollMs = Math.min(Math.max(FIRST_POLL_MS, waitedMs * POLL_PART), MAX_POLL_MS);
    await pause(clock, Math.min(pollMs, longestMs - waitedMs), signal);
  }
}
