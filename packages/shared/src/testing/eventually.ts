/**
 * Polls until the check returns without throwing, and gives back what it returned.
 * After `deadlineMs` the last error of the check is thrown. The only way in which tests wait.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { deadlineMs = 10_000, intervalMs = 20 } = {},
): Promise<T> {
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() >= endMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
