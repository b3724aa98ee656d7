import type { IncomingMessage } from 'node:http';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { authorityOf, isHostField } from '@gateway/shared/http/headers';

/** Fields that decide. If their values differ, a proxy in front could use another one than this process. */
const SINGLE_FIELDS = ['host', 'authorization', 'idempotency-key'] as const;

/** Codings before a last `chunked`, in lower case: unknown ones are not implemented (RFC 9112 section 6.1). */
const OTHER_CODINGS = /^(?:(?!chunked[ \t,])[!#$%&'*+\-.^_`|~0-9a-z]+[ \t]*,[ \t]*)+chunked$/;

/**
 * Refuses a head that node:http accepts but a proxy in front could understand differently: a field with different values,
 * an invalid Host (RFC 9112 section 3.2), a target that is neither a path nor an HTTP URI, or a transfer coding besides
 * `chunked`, which node:http would not decode (section 6.1).
 *
 * @throws GatewayError invalid_request, not_implemented, http_version_not_supported
 */
export function refuseAmbiguousHead(request: IncomingMessage): void {
  const { headers, httpVersion, method, rawHeaders, url = '' } = request;
  if (request.httpVersionMajor !== 1) {
    throw new GatewayError('http_version_not_supported', 'The version must be HTTP/1.1 or 1.0.', {
      headers: { connection: 'close' },
    });
  }
  const coding = headers['transfer-encoding']?.trim().toLowerCase();
  if (coding !== undefined && OTHER_CODINGS.test(coding) && httpVersion === '1.1') {
    throw new GatewayError('not_implemented', 'The only supported transfer coding is `chunked`.', {
      headers: { connection: 'close' },
    });
  }
  if (coding !== undefined && (coding !== 'chunked' || httpVersion !== '1.1')) {
    throw headError('Transfer-Encoding', 'must be only `chunked`, and in HTTP/1.1');
  }
  for (const name of SINGLE_FIELDS) {
    const [value, ...others] = valuesOf(name, rawHeaders);
    if (others.some((other) => other !== value)) throw headError(name, 'must be sent once');
    // node:http joins equal values of some fields.
    if (others.length > 0) headers[name] = value;
  }
  const { host } = headers;
  if (host === undefined ? httpVersion === '1.1' : !isHostField(host)) {
    throw headError('host', 'must be a host, optionally with a port');
  }
  if (url.startsWith('/') || (url === '*' && method === 'OPTIONS')) return;
  if (!isHostField(authorityOf(url) ?? '')) {
    throw headError('target', 'must be a path or an HTTP URI');
  }
}

function valuesOf(name: string, rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_value, index) => {
    return index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name;
  });
}

/** Closes the connection, because the bytes that follow may belong to this request or to the next one. */
function headError(path: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `The request is not valid: ${path}: ${message}.`, {
    details: [{ path, message }],
    headers: { connection: 'close' },
  });
}
