import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { CommitUnknownError, isAway } from '../store/failures.ts';
import { invalidRequest } from './input.ts';

/** What Express and its body parser throw: `type` says what happened, `code` what zlib found. */
function textOf(error: unknown, name: 'type' | 'code'): string | undefined {
  const text: unknown = error instanceof Error ? Reflect.get(error, name) : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** Node's names for compressed data that is none, by the format: zlib, Brotli, Zstandard. */
const NOT_COMPRESSED = /^(Z_|ERR_BROTLI_|ERR__ERROR_|ZSTD_)/;

/**
 * The error that the caller is shown for anything that was thrown. What is not foreseen here becomes
 * internal_error, of which nothing but the code leaves the process.
 */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  switch (textOf(error, 'type')) {
    case 'entity.too.large':
      return new GatewayError('payload_too_large', 'The body is larger than 1 MiB.');
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
    case 'request.size.invalid':
    case 'request.aborted':
      return invalidRequest([{ path: '', message: 'the body is incomplete' }], error);
  }
  if (NOT_COMPRESSED.test(textOf(error, 'code') ?? '')) {
    const message = 'the body is not what its Content-Encoding says';
    return invalidRequest([{ path: '', message }], error);
  }
  // Express: a percent-encoding of the path that is none.
  if (error instanceof URIError) {
    return invalidRequest([{ path: '', message: 'the path is not validly encoded' }], error);
  }
  if (error instanceof CommitUnknownError) {
    return new GatewayError(
      'internal_error',
      'The database was lost during the commit; the change may have been made. Read the resource before you send the change again.',
      { cause: error },
    );
  }
  if (isAway(error)) {
    return new GatewayError('gateway_not_ready', 'The database cannot be reached now.', {
      headers: { 'retry-after': '1' },
      cause: error,
    });
  }
  return new GatewayError('internal_error', 'The gateway failed in a way that it did not expect.', {
    cause: error,
  });
}
