import type { End } from '@gateway/http/exchange';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { UPLOAD_RATE_WINDOW_MS } from '@gateway/shared/definitions/route-times';
import { ClientLeftError } from './client-left-error.ts';
import type { BodyLimits, UploadLimits } from './request-body.ts';

/** The error for an incomplete body: it is malformed, or its caller has left. */
export function bodyLost(end: End): Error {
  return end === 'malformed'
    ? new GatewayError('invalid_request', 'The request was refused: the body is not well-formed.')
    : new ClientLeftError();
}

/** The error for a body that its caller sends too slowly: the field that says so, its value, and what it means. */
export function bodyLate(field: keyof UploadLimits, value: number): GatewayError {
  return new GatewayError(
    'request_timeout',
    `The request body timed out: ${LATE[field]} (${field}: ${value}).`,
  );
}

const LATE: Readonly<Record<keyof UploadLimits, string>> = {
  max_upload_ms: 'it took too long in all',
  min_upload_bytes_per_second: `it was too slow over ${UPLOAD_RATE_WINDOW_MS / 1000} s`,
  body_idle_timeout_ms: 'nothing of it arrived for too long',
};

/** The error for a body above the limit of its route. */
export function tooLarge(limits: Pick<BodyLimits, 'maxBytes'>): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The request body is larger than the ${limits.maxBytes} bytes that the route takes.`,
  );
}

/** The error for a body with this part, which is the last of the bytes that have arrived; undefined: its size is accepted. */
export function sizeError(
  limits: Pick<BodyLimits, 'maxBytes' | 'messages'>,
  receivedBytes: number,
  part: BodyBytes,
): GatewayError | undefined {
  const { messages } = limits;
  if (messages === undefined) return receivedBytes > limits.maxBytes ? tooLarge(limits) : undefined;
  if (messages.fits(part)) return undefined;
  return new GatewayError(
    'payload_too_large',
    `A message of the request body is larger than the ${messages.maxBytes} bytes that the route takes (max_message_bytes).`,
  );
}
