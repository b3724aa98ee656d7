/**
 * The code of a system error (`ENOENT`, `EADDRINUSE`), undefined for anything else. Looks at the
 * property and not at the class, because jest gives a test's modules an Error class of their own.
 */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** What an error says of itself. */
export function errorMessage(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error)
    return String(error.message);
  return String(error);
}
