/** A machine that stood still has not given a check its time. */
const MIN_CHECKS = 20;

/**
 * Polls until the check returns without throwing, and gives back what it returned. After `deadlineMs`, and
 * some checks, the last error of the check is thrown. The only way in which tests wait.
 *
 * Each failed check makes the text of its error: compare lengths and not lists of large objects.
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
