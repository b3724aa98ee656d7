import { ApiError, ConnectionError } from '@gateway/client';

/** What the console refuses itself. The message is for people. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** What went wrong, in a sentence for people. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError || error instanceof RefusedError) return error.message;
  if (error instanceof ConnectionError) return 'The gateway cannot be reached.';
  return 'The page has an error.';
}

/** The id of the call that failed, for logs and support. */
export function requestIdOf(error: unknown): string | undefined {
  return error instanceof ApiError ? error.requestId : undefined;
}
