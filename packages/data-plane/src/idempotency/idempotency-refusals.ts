import { GatewayError } from '@gateway/shared/errors/gateway-error';

type Why = 'conflict' | 'outcome_unknown' | 'answer_unreadable' | 'too_large';

/**
 * Why a request with a key that was used before is neither run nor answered. The first request is
 * named, so that its record can be looked up.
 *
 * @param status of the answer to the first request, where it is known
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
        `The idempotency key was used by the request ${firstId}, which had another method, path, ` +
          'query or body.',
      );
    case 'outcome_unknown':
      return new GatewayError(
        'idempotency_outcome_unknown',
        `The first request with this idempotency key, ${firstId}, was sent to the upstream, and ` +
          'what came of it is not known.',
      );
    case 'answer_unreadable':
      return new GatewayError(
        'idempotency_outcome_unknown',
        `The first request with this idempotency key, ${firstId}, was answered, but its answer ` +
          'cannot be read any more.',
      );
    case 'too_large':
      return new GatewayError(
        'idempotency_outcome_unknown',
        `The first request with this idempotency key, ${firstId}, was answered with ` +
          `${status ?? 0}, but the answer's body was not kept: it was larger than ` +
          `${maxBodyBytes ?? 0} bytes, or there was no room for it.`,
      );
  }
}

/** The first request has not ended by this one's deadline, or too many wait for others already. */
export function inProgress(firstId: string | undefined): GatewayError {
  const first = firstId === undefined ? '' : `, ${firstId},`;
  return new GatewayError(
    'idempotency_in_progress',
    `The first request with this idempotency key${first} has not ended yet.`,
    { headers: { 'retry-after': '1' } },
  );
}

export function unavailable(cause: unknown): GatewayError {
  return new GatewayError(
    'idempotency_unavailable',
    'The store of idempotency keys cannot be reached, so the request was not sent.',
    { headers: { 'retry-after': '1' }, cause },
  );
}
