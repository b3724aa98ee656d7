import { UNKNOWN_VERSION } from '@gateway/http/message/request-head';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { isHostField } from '@gateway/shared/http/headers';
import { DEFAULT_METHODS } from '@gateway/shared/http/methods';
import { parseGrpcTimeoutMs } from '../text/grpc-timeout.ts';
import type { RequestContext } from './context.ts';

const CLOSE = { connection: 'close' };

/** How many times a request may have passed a gateway of this product already. */
const MAX_PASSES = 8;

/**
 * Refuses a head that two systems could interpret differently: a field that decides and has different values, a missing
 * or malformed Host (RFC 9112 section 3.2), a transfer coding other than `chunked`, a target that is neither a path nor
 * a URI or has a fragment (section 3.2.1), a major version other than HTTP/1 (section 2.3). Also refuses a request that
 * is in a loop (RFC 8586, and RFC 9110 section 7.6), or on a connection of another host (RFC 9113 section 9.1.2), and a
 * gRPC call with a malformed deadline.
 *
 * @throws GatewayError `invalid_request`, `misdirected_request`, `not_implemented` or `http_version_not_supported`
 */
export function checkHead(ctx: RequestContext): void {
  const { host, via, cdnLoop } = ctx.inbound;
  const { path, query } = ctx.target;
  if (ctx.httpVersion === UNKNOWN_VERSION) {
    throw new GatewayError(
      'http_version_not_supported',
      'The request was refused: the version must be HTTP/1.1 or HTTP/1.0.',
      { headers: CLOSE },
    );
  }
  // Other codings are not decoded here, and HTTP/1.0 has none. A system that decodes them would see another request
  // (RFC 9112 section 6.1).
  if (ctx.framing.kind === 'unsupported') {
    throw new GatewayError(
      'not_implemented',
      'The request was refused: the only supported transfer coding is `chunked`.',
      { headers: CLOSE },
    );
  }
  if (ctx.framing.kind === 'unknown') {
    throw refuseField(
      'transfer-encoding',
      'must be `chunked` and nothing else, in HTTP/1.1',
      CLOSE,
    );
  }
  const repeated = repeatedField(ctx);
  if (repeated !== undefined) throw refuseField(repeated, 'must be sent once');
  if (host === undefined ? ctx.httpVersion !== '1.0' : !isHostField(host)) {
    throw refuseField('host', 'must be a host with an optional port');
  }
  if (ctx.authority !== undefined && !isHostField(ctx.authority)) {
    throw refuseField('target', 'must be a host with an optional port');
  }
  if (ctx.isMisdirected) {
    throw new GatewayError(
      'misdirected_request',
      'The certificate of this connection does not cover the host of the request. Open a connection for the host.',
    );
  }
  if (!path.startsWith('/') && !(path === '*' && ctx.method === 'OPTIONS')) {
    throw refuseField('target', 'must be a path or an HTTP URI');
  }
  if (ctx.inbound.isGrpc) readCallerDeadline(ctx);
  if (query.includes('#')) throw refuseField('target', 'must not have a fragment');
  if (cdnLoop !== undefined && count(cdnLoop, IN_CDN_LOOP) > MAX_PASSES) throw inLoop('cdn-loop');
  // Gateways of a former release name themselves in Via alone.
  if (via !== undefined && count(via, IN_VIA) > MAX_PASSES) throw inLoop('via');
}

/** Notes when the caller of a gRPC call ends it. The time of its way to the gateway is not known. */
function readCallerDeadline(ctx: RequestContext): void {
  const { grpcTimeout } = ctx.inbound;
  if (grpcTimeout === undefined) return;
  const timeoutMs = parseGrpcTimeoutMs(grpcTimeout);
  if (timeoutMs === undefined) {
    throw refuseField('grpc-timeout', 'must be 1 to 8 digits and a unit: H, M, S, m, u or n');
  }
  ctx.callerDeadlineMs = ctx.startedMs + timeoutMs;
}

/** A field that decides, with different values (see `REQUEST_FIELDS`). */
function repeatedField({ inbound, fromTrustedProxy }: RequestContext): string | undefined {
  return inbound.repeated ?? (fromTrustedProxy ? inbound.repeatedByProxy : undefined);
}

/** Our entries of these lists; those of `CDN-Loop` may have parameters. */
const IN_CDN_LOOP = /(?:^|,)[ \t]*gateway(?=[ \t]*(?:[,;]|$))/g;
const IN_VIA = / gateway(?=[ \t]*(?:,|$))/g;

function count(list: string, entry: RegExp): number {
  return list.match(entry)?.length ?? 0;
}

function inLoop(field: string): GatewayError {
  const message = `must name this gateway at most ${MAX_PASSES} times: the request is in a loop`;
  return refuseField(field, message);
}

/**
 * Refuses a head with too many lines. MAX_HEADER_BYTES does not bound them well: a line can be very short, and each one
 * costs work here and at the upstream.
 *
 * @throws GatewayError `header_fields_too_large`
 */
export function checkHeaderLines(ctx: RequestContext, maxHeaderLines: number): void {
  if (ctx.inbound.raw.length / 2 <= maxHeaderLines) return;
  const message = `must be at most ${maxHeaderLines} lines`;
  throw new GatewayError(
    'header_fields_too_large',
    `The request was refused: headers ${message}.`,
    { details: [{ path: 'headers', message }], headers: CLOSE },
  );
}

/** What `Allow` lists if there is no route to ask. */
export const DEFAULT_ALLOW = DEFAULT_METHODS.join(', ');

/** The refusal of a method that is never forwarded. */
export function refuseMethod(method: string): GatewayError {
  return new GatewayError('method_not_allowed', `The method ${method} is not forwarded.`, {
    headers: { allow: DEFAULT_ALLOW },
  });
}

/** The refusal of a request for one part of its head. */
export function refuseField(
  path: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): GatewayError {
  return new GatewayError('invalid_request', `The request was refused: ${path} ${message}.`, {
    details: [{ path, message }],
    headers,
  });
}
