import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { refuseSubPath } from '../pipeline/proxy-path.ts';
import type { Stage } from '../pipeline/stage.ts';

/** The methods that the proxy path takes: all of RFC 9110 section 9 and PATCH, but CONNECT and TRACE. */
export const PROXY_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const ALLOWED = new Set<string>(PROXY_METHODS);
const ALLOW = PROXY_METHODS.join(', ');

export interface AdmitOptions {
  /** Requests that are under way in this process, this one included. */
  readonly inFlight: () => number;
  readonly maxInFlight: number;
  /** Whether any configuration has been loaded. */
  readonly ready: () => boolean;
}

/**
 * Refuses what no route could take, and sheds load. Runs first, so that a flood costs next to nothing,
 * and before the path is used for anything.
 */
export function createAdmit(options: AdmitOptions): Stage {
  return (ctx) => {
    if (options.inFlight() > options.maxInFlight) {
      throw new GatewayError('gateway_overloaded', 'Too many requests are in flight.', {
        headers: { 'retry-after': '1' },
      });
    }
    if (!options.ready()) {
      throw new GatewayError('gateway_not_ready', 'No configuration has been loaded yet.', {
        headers: { 'retry-after': '1' },
      });
    }
    if (!ALLOWED.has(ctx.method)) {
      throw new GatewayError('method_not_allowed', `The method ${ctx.method} is not forwarded.`, {
        headers: { allow: ALLOW },
      });
    }
    const { host, repeated, transferCoding } = ctx.inbound;
    if (transferCoding !== undefined && !isFraming(transferCoding, ctx.httpVersion)) {
      throw refuseField('transfer-encoding', 'must be `chunked` alone, in HTTP/1.1', {
        connection: 'close',
      });
    }
    if (repeated !== undefined) throw refuseField(repeated, 'must be sent once');
    if (host === undefined ? ctx.httpVersion !== '1.0' : !isHost(host)) {
      throw refuseField('host', 'must name a host, and a port if need be');
    }
    if (ctx.target.routeName === '') {
      throw new GatewayError('not_found', 'The path names no route.');
    }
    const reason = refuseSubPath(ctx.target.subPath);
    if (reason !== undefined) throw refuseField('path', reason);
    return undefined;
  };
}

function refuseField(
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
  return transferCoding === 'chunked' && httpVersion === '1.1';
}

/** RFC 9110 section 7.2: uri-host, and a port. No user info, no path. */
function isHost(host: string): boolean {
  return /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/.test(host);
}
