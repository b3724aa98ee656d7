/**
 * The statuses after which a route may let a request with an idempotency key run again: with each of them an upstream can
 * say that it has not carried out the request, and may carry it out later. 500, 502 and 504 say nothing about that.
 */
export const REPEATABLE_STATUSES: readonly number[] = [408, 409, 423, 425, 429, 503];

/** Too Early and Too Many Requests always say that the request was not carried out. */
export const DEFAULT_REPEATABLE_STATUSES: readonly number[] = [425, 429];
