import { UNKNOWN_VERSION } from '@gateway/http1/message/request-head';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { isHostField } from '@gateway/shared/http/host';
import type { RequestContext } from './context.ts';

const CLOSE = { connection: 'close' };

/** How often a request may have passed a gateway of this product already. */
const MAX_PASSES = 8;

/**
 * Refuses a head that two parts of a system could read in two ways: a field twice that must stand
 * alone, a missing or malformed Host (RFC 9112 section 3.2), a transfer coding besides `chunked`, a
 * target that is neither a path nor a URI or has a fragment (section 3.2.1), a version that is not of
 * HTTP/1 (section 2.3). And one that goes round in a loop (RFC 9110 section 7.6).
 *
 * @throws GatewayError `invalid_request`
 */
export function checkHead(ctx: RequestContext): void {
  const { host, repeated, transferCoding, via } = ctx.inbound;
  const { path, query } = ctx.target;
  if (ctx.httpVersion === UNKNOWN_VERSION) {
    throw refuseField('version', 'must be HTTP/1.1 or HTTP/1.0', CLOSE);
  }
  if (transferCoding !== undefined && !isFraming(transferCoding, ctx.httpVersion)) {
    throw refuseField('transfer-encoding', 'must be `chunked` alone, in HTTP/1.1', CLOSE);
  }
  if (repeated !== undefined) throw refuseField(repeated, 'must be sent once');
  if (host === undefined ? ctx.httpVersion !== '1.0' : !isHostField(host)) {
    throw refuseField('host', 'must name a host, and a port if need be');
  }
  if (ctx.authority !== undefined && !isHostField(ctx.authority)) {
    throw refuseField('target', 'must name a host, and a port if need be');
  }
  if (!path.startsWith('/') && !(path === '*' && ctx.method === 'OPTIONS')) {
    throw refuseField('target', 'must be a path or a URI of HTTP');
  }
  if (query.includes('#')) throw refuseField('target', 'holds a fragment');
  if (via !== undefined && passes(via) > MAX_PASSES) {
    throw refuseField(
      'via',
      'names this gateway so often that the request must go round in a loop',
    );
  }
}

function passes(via: string): number {
  return via.match(/ gateway(?=[ \t]*(?:,|$))/g)?.length ?? 0;
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

/**
 * Whether the body ends where everyone says it does. A coding beside chunked is not undone here, and
 * HTTP/1.0 has none: whoever reads that differently sees another request (RFC 9112 section 6.1).
 */
function isFraming(transferCoding: string, httpVersion: string): boolean {
  return transferCoding === 'chunked' && (httpVersion === '1.1' || httpVersion === '2.0');
}
