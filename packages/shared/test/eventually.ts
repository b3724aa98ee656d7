/** A suspended machine must not use up the time of a check. */
const MIN_CHECKS = 20;

/**
 * Polls until the check returns without throwing, and returns its result. After `deadlineMs` and a minimum number of checks it
 * throws the last error. Tests must wait in this way only.
 *
 * Each failed check formats its error, so compare lengths and not lists of large objects.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { deadlineMs = 20_000, intervalMs = 20 } = {},
): Promise<T> {
  const endMs = performance.now() + deadlineMs;
  for (let checks = 1; ; checks += 1) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() >= endMs && checks >= MIN_CHECKS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
