import { pause, type Clock } from '@gateway/shared/clock';

/** A request this young may have its record still on the way. Source: DESIGN section 2. */
const YOUNG_MS = 5000;
const LONGEST_WAIT_MS = 2000;
const POLL_MS = 40;

/**
 * What `find` gives, waiting for it where the request is so young that its record may still be on its
 * way through the stream. "Young" allows for a data plane whose clock is ahead.
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
  const endMs = clock.monotonicMs() + (isYoung ? LONGEST_WAIT_MS : 0);
  for (;;) {
    const found = await find();
    const leftMs = endMs - clock.monotonicMs();
    if (found !== undefined || leftMs <= 0 || signal.aborted) return found;
    await pause(clock, Math.min(POLL_MS, leftMs), signal);
  }
}
