import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import { refuseAccess } from '../../access/access.ts';

/**
 * A field that only a script of the same origin can set: a form cannot, and there are no CORS headers. Its name does not
 * begin with `X-Gateway-`, because data planes forward no such field of a caller.
 */
export const CSRF_FIELD = 'x-console-request';

const SAFE_METHODS = new Set(['GET', 'HEAD']);

/** Whether the browser uses TLS: to this process, or to a trusted proxy that says so. */
export function isSecure(request: IncomingMessage, trusted: AddressRanges): boolean {
  if ((request.socket as Partial<TLSSocket>).encrypted === true) return true;
  return forwarded(request, 'x-forwarded-proto', trusted) === 'https';
}

/**
 * Refuses a change that a page of another origin makes with the cookie of the console.
 *
 * @throws GatewayError authentication_failed
 */
export function refuseForgedChange(request: IncomingMessage, trusted: AddressRanges): void {
  if (SAFE_METHODS.has(request.method ?? '')) return;
  if (request.headers[CSRF_FIELD] === undefined) {
    throw refuseAccess(
      'A change with a session of the console needs the header X-Console-Request.',
    );
  }
  refuseOtherOrigin(request, trusted);
}

/**
 * Refuses a request that a browser says to come from a page of another origin. Browsers leave `Sec-Fetch-Site` out
 * without TLS, except on loopback; then `Origin` counts.
 *
 * @throws GatewayError authentication_failed
 */
export function refuseOtherOrigin(request: IncomingMessage, trusted: AddressRanges): void {
  const site = request.headers['sec-fetch-site'];
  const isSame = site === undefined ? isOwnOrigin(request, trusted) : site === 'same-origin';
  if (!isSame) throw refuseAccess('The request comes from a page of another origin.');
}

function isOwnOrigin(request: IncomingMessage, trusted: AddressRanges): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const own = [host, forwarded(request, 'x-forwarded-host', trusted)];
  return own.includes(new URL(origin).host);
}

/** The first value of a field that a trusted proxy has set. */
function forwarded(
  request: IncomingMessage,
  name: string,
  trusted: AddressRanges,
): string | undefined {
  if (!trusted.has(request.socket.remoteAddress ?? '')) return undefined;
  const value = request.headers[name];
  return (Array.isArray(value) ? value.join(',') : value)?.split(',')[0]?.trim().toLowerCase();
}
