/**
 * A clock whose reading stays the same until it is `everyMs` old, so that what shows it is drawn seldom. It is never
 * staler than that, also if nobody read it for long: what just happened is never in its future.
 *
 * @param exactMs ms since the Unix epoch; may be set back
 */
export function coarseClock(exactMs: () => number, everyMs: number): () => number {
  let readMs = exactMs();
  return () => {
    const nowMs = exactMs();
    if (Math.abs(nowMs - readMs) >= everyMs) readMs = nowMs;
    return readMs;
  };
}
