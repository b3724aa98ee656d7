/** A suspended machine must not use up the time of a check. */
const MIN_CHECKS = 20;
/** A check waits for this part of the time that the wait has taken so far, so that a long wait takes little CPU time. */
const INTERVAL_PART = 0.1;
const MIN_INTERVAL_MS = 20;
const MAX_INTERVAL_MS = 100;

/**
 * Polls until the check returns without throwing, and returns its result. After `deadlineMs` and a minimum number of checks it
 * throws the last error. Tests must wait in this way only. `intervalMs` is for checks that act, and so need their turns.
 *
 * Each failed check formats its error, so compare lengths and not lists of large objects.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  {
    deadlineMs = 20_000,
    intervalMs,
  }: { readonly deadlineMs?: number; readonly intervalMs?: number } = {},
): Promise<T> {
  const startMs = performance.now();
  for (let checks = 1; ; checks += 1) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() >= startMs + deadlineMs && checks >= MIN_CHECKS) throw error;
    }
    const waitedMs = performance.now() - startMs;
    const growingMs = Math.min(waitedMs * INTERVAL_PART, MAX_INTERVAL_MS);
    const nextMs = intervalMs ?? Math.max(MIN_INTERVAL_MS, growingMs);
    await new Promise((resolve) => setTimeout(resolve, nextMs));
  }
}
