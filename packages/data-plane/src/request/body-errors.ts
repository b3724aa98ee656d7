import type { End } from '@gateway/http/exchange';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { ClientLeftError } from './client-left-error.ts';
import type { BodyLimits } from './request-body.ts';

/** The error for an incomplete body: it is malformed, or its caller has left. */
export function bodyLost(end: End): Error {
  return end === 'malformed'
    ? new GatewayError('invalid_request', 'The request was refused: the body is not well-formed.')
    : new ClientLeftError();
}

/** The error for a body that was not complete at the deadline, because of its caller. */
export function bodyLate(): GatewayError {
  return new GatewayError('request_timeout', 'The request body did not arrive in time.');
}

/** The error for a body above the limit of its route. */
export function tooLarge(limits: Pick<BodyLimits, 'maxBytes'>): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The request body is larger than the ${limits.maxBytes} bytes that the route takes.`,
  );
}
