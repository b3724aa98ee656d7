import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { CommitUnknownError, isTooSlow, isUnavailable } from '../store/failures.ts';
import { invalidRequest } from './input.ts';

/** Errors of Express and its body parser have a `type`, those of zlib a `code`. */
function textOf(error: unknown, name: 'type' | 'code'): string | undefined {
  const text: unknown = error instanceof Error ? Reflect.get(error, name) : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** The limit that a body exceeds, bytes. The body parser names it. */
function limitOf(error: unknown): number {
  return Number(error instanceof Error ? Reflect.get(error, 'limit') : NaN);
}

/** Where the second field of one name begins, bytes. Its name may be a misplaced secret. */
function offsetOf(error: unknown): number {
  return Number(error instanceof Error ? Reflect.get(error, 'offset') : NaN);
}

/** Node's error codes for invalid compressed data: zlib, Brotli, Zstandard. */
const INVALID_COMPRESSION = /^(Z_|ERR_BROTLI_|ERR__ERROR_|ZSTD_)/;

/**
 * Maps anything that was thrown to the error that the caller gets. Anything unexpected becomes internal_error, which
 * reveals nothing of its cause.
 */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  switch (textOf(error, 'type')) {
    case 'entity.too.large':
      return new GatewayError(
        'payload_too_large',
        `The body is larger than ${limitOf(error) / 1024 / 1024} MiB.`,
      );
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new GatewayError(
        'unsupported_media_type',
        'The body must be UTF-8, and its Content-Encoding gzip, deflate, br, zstd or none.',
      );
    case 'entity.parse.failed':
      return invalidRequest([{ path: '', message: 'the body is not a valid JSON object' }], error);
    case 'body.not.utf8':
      return invalidRequest([{ path: '', message: 'the body is not valid UTF-8' }], error);
    case 'body.name.repeated': {
      const message = `an object has two fields of one name, the second at byte ${offsetOf(error)} of the body`;
      return invalidRequest([{ path: '', message }], error);
    }
    case 'request.size.invalid':
    case 'request.aborted':
      return invalidRequest([{ path: '', message: 'the body is incomplete' }], error);
  }
  if (INVALID_COMPRESSION.test(textOf(error, 'code') ?? '')) {
    const message = 'the body is not encoded as its Content-Encoding says';
    return invalidRequest([{ path: '', message }], error);
  }
  // Express throws it for an invalid percent-encoding in the path.
  if (error instanceof URIError) {
    return invalidRequest(
      [{ path: '', message: 'the path has an invalid percent-encoding' }],
      error,
    );
  }
  if (error instanceof CommitUnknownError) {
    return new GatewayError(
      'internal_error',
      'The database was lost during the commit; the change may have been made. Read the resource before you send the change again.',
      { cause: error },
    );
  }
  if (isUnavailable(error)) {
    const message = isTooSlow(error)
      ? 'The database took too long.'
      : 'The database cannot be reached.';
    return new GatewayError('gateway_not_ready', message, {
      headers: { 'retry-after': '1' },
      cause: error,
    });
  }
  return new GatewayError('internal_error', 'The gateway failed unexpectedly.', {
    cause: error,
  });
}
