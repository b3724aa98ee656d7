import type { IncomingMessage } from 'node:http';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { authorityOf, isHostField } from '@gateway/shared/http/host';

/** Whose second line could be judged by a proxy in front, and the first by this process. */
const SINGLE = ['host', 'authorization'] as const;

/**
 * Refuses a head that node:http lets through and that a proxy in front could read in another way: a field
 * twice, a Host that names none (RFC 9112 section 3.2), a target that is neither a path nor a URI of
 * HTTP, a transfer coding besides `chunked`, which would not be undone (section 6.1).
 *
 * @throws GatewayError invalid_request
 */
export function requireOneReading(request: IncomingMessage): void {
  const { headers, httpVersion, method, rawHeaders, url = '' } = request;
  const coding = headers['transfer-encoding']?.trim().toLowerCase();
  if (coding !== undefined && (coding !== 'chunked' || httpVersion !== '1.1')) {
    throw refuseHead('Transfer-Encoding', 'must be `chunked` alone, in HTTP/1.1');
  }
  for (const name of SINGLE) {
    if (count(name, rawHeaders) > 1) throw refuseHead(name, 'must be sent once');
  }
  const { host } = headers;
  if (host === undefined ? httpVersion === '1.1' : !isHostField(host)) {
    throw refuseHead('host', 'must name a host, and a port if need be');
  }
  if (url.startsWith('/') || (url === '*' && method === 'OPTIONS')) return;
  if (!isHostField(authorityOf(url) ?? '')) {
    throw refuseHead('target', 'must be a path or a URI of HTTP');
  }
}

function count(name: string, rawHeaders: readonly string[]): number {
  return rawHeaders.filter((one, index) => index % 2 === 0 && one.toLowerCase() === name).length;
}

/** What comes next on the connection may not be the request that it seems to be. */
function refuseHead(path: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `The request is not valid: ${path}: ${message}.`, {
    details: [{ path, message }],
    headers: { connection: 'close' },
  });
}
