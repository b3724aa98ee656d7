import type { Deadline } from './deadline.ts';
import { retryAfterMs } from './retry-after.ts';

/** The statuses after which the same call may be sent again: nothing was changed. */
const RETRIED = new Set([429, 503]);
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 10_000;
/** The share of the time that the response asks for that is added at random, so that callers do not return at the same moment. */
const SPREAD = 0.1;

/**
 * The global fetch, or one like it. The signal must end the call: that of a request that was cloned does not in Node, once
 * its garbage collector has taken the clone.
 */
export type Fetch = (request: Request, init: { readonly signal: AbortSignal }) => Promise<Response>;

export interface RetryOptions {
  readonly fetch: Fetch;
  readonly deadline: Deadline;
  /** A number in [0, 1). */
  readonly random: () => number;
}

/**
 * Sends a request, and again after 429 and 503, when the response allows it (`retryAfterMs`). Returns the last response if the next one
 * would come after the deadline.
 */
export async function fetchWithRetries(
  request: Request,
  { fetch, deadline, random }: RetryOptions,
): Promise<Response> {
  for (let retries = 0; ; retries += 1) {
    // The body of a request can be read once.
    const response = await fetch(request.clone(), { signal: deadline.signal });
    if (!RETRIED.has(response.status)) return response;
    const waitMs = waitOf(response, retries, random());
    if (waitMs >= deadline.leftMs()) return response;
    // An unread body keeps its connection occupied.
    await response.body?.cancel();
    await deadline.pause(waitMs);
  }
}

function waitOf(response: Response, retries: number, random: number): number {
  const askedMs = retryAfterMs(response.headers);
  if (askedMs !== undefined) return askedMs * (1 + SPREAD * random);
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retries) * random;
}
