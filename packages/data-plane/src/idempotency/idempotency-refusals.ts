import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { StoreFullError } from './store/idempotency-store.ts';

type Why = 'conflict' | 'outcome_unknown' | 'response_unreadable' | 'too_large';

/**
 * The error for a request whose key was used before, if it gets no stored response. The message names the first request,
 * so that its record can be read.
 *
 * @param status of the response to the first request, if it is known
 */
export function refusedKey(
  why: Why,
  firstId: string,
  status?: number,
  maxBodyBytes?: number,
): GatewayError {
  switch (why) {
    case 'conflict':
      return new GatewayError(
        'idempotency_conflict',
        `The idempotency key was used by the request ${firstId} with another method, path, query ` +
          'or body.',
      );
    case 'outcome_unknown':
      return new GatewayError(
        'idempotency_outcome_unknown',
        `The first request with this idempotency key, ${firstId}, was sent to the upstream, and ` +
          'its outcome is unknown.',
      );
    case 'response_unreadable':
      return new GatewayError(
        'idempotency_outcome_unknown',
        `The first request with this idempotency key, ${firstId}, has completed, but its stored ` +
          'response cannot be read.',
      );
    case 'too_large':
      return new GatewayError(
        'idempotency_outcome_unknown',
        `The first request with this idempotency key, ${firstId}, has completed with status ` +
          `${status ?? 0}, but the body of its response was not stored: it was larger than ` +
          `${maxBodyBytes ?? 0} bytes, or there was no room for it.`,
      );
  }
}

/** The error if the first request has not ended by the deadline of this one, or if too many duplicates wait. */
export function inProgress(firstId: string | undefined): GatewayError {
  const first = firstId === undefined ? '' : `, ${firstId},`;
  return new GatewayError(
    'idempotency_in_progress',
    `The first request with this idempotency key${first} has not ended yet.`,
    { headers: { 'retry-after': '1' } },
  );
}

/** The error if the store of keys cannot be reached, or stores no new key. */
export function unavailable(cause: unknown): GatewayError {
  const why =
    cause instanceof StoreFullError ? cause.message : 'the store of keys cannot be reached';
  return new GatewayError(
    'idempotency_unavailable',
    `The request with an idempotency key was not sent: ${why}.`,
    { headers: { 'retry-after': '1' }, cause },
  );
}
