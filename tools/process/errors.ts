/** An error that ends a start. Its message is the one line that the operator reads. */
export class StartError extends Error {
  constructor(line: string, options?: ErrorOptions) {
    super(line, options);
    this.name = 'StartError';
  }
}

/**
 * The code of a system error (`ENOENT`, `EADDRINUSE`), or undefined. It checks the
 * property and not the class, because modules of a jest test have another Error class.
 */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The message of an error, or the thrown value as text. */
export function errorMessage(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error)
    return String(error.message);
  return String(error);
}
