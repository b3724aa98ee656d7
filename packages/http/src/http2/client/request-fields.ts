import type { ClientRequest } from '../../exchange.ts';
import type { HeaderFields } from '../../fields/header-fields.ts';
import { UnsendableError, type ForwardedFields } from '../../message/message-writer.ts';

/** Characters that no value may contain, and spaces around it (RFC 9113 section 8.2.1). */
const INVALID = /[^\t\x20-\x7e\x80-\xff]|^[\t ]|[\t ]$/;
const NOT_VISIBLE = /[^!-\xff]/;
/** Methods for which a request without a body still says so (RFC 9110 section 8.6). */
const ANTICIPATES_BODY = new Set(['POST', 'PUT', 'PATCH']);
const NONE: HeaderFields = [];
const TE: HeaderFields = ['te', 'trailers'];
/** Lists that were checked, because many requests share one. */
const checked = new WeakSet<ForwardedFields>();

/**
 * The fields of a request, the pseudo-header fields first (RFC 9113 section 8.3.1). The encoder writes names in lower case
 * and leaves out those of the connection.
 *
 * @throws UnsendableError if the server would refuse it or read it differently
 */
export function requestFields(
  scheme: string,
  ownHost: string,
  request: ClientRequest,
): HeaderFields {
  const { method, path, host = ownHost, fields, passed, takesTrailers, upgrade } = request;
  if (NOT_VISIBLE.test(method) || NOT_VISIBLE.test(path) || NOT_VISIBLE.test(host)) {
    throw new UnsendableError('the method, target or host contains a space or a control character');
  }
  // It opens a tunnel, and has no path (RFC 9113 section 8.5).
  if (method === 'CONNECT') throw new UnsendableError('CONNECT is not forwarded');
  let all: HeaderFields = [':method', method, ':scheme', scheme, ':authority', host, ':path', path];
  // RFC 8441 section 4.
  if (upgrade !== undefined) all = [':method', 'CONNECT', ':protocol', upgrade, ...all.slice(2)];
  if (passed !== undefined) for (const part of passed) all = all.concat(passedOn(part));
  checkValues(fields);
  // A tunnel has neither a length nor trailers.
  if (upgrade !== undefined) return all.concat(fields);
  return all.concat(fields, takesTrailers === true ? TE : NONE, lengthField(request));
}

function passedOn(part: ForwardedFields): HeaderFields {
  if (!checked.has(part)) {
    checkValues(part.fields);
    checked.add(part);
  }
  return part.fields;
}

function checkValues(fields: HeaderFields): void {
  for (let index = 1; index < fields.length; index += 2) {
    if (INVALID.test(fields[index] ?? '')) {
      throw new UnsendableError(`the value of the field ${fields[index - 1]} is not valid`);
    }
  }
}

function lengthField({ method, body, contentLength }: ClientRequest): HeaderFields {
  if (body === null) return ANTICIPATES_BODY.has(method) ? lengthOf(0) : NONE;
  if (typeof body === 'string' || Buffer.isBuffer(body)) return lengthOf(body.length);
  return contentLength === undefined ? NONE : lengthOf(contentLength);
}

function lengthOf(bytes: number): HeaderFields {
  return ['content-length', String(bytes)];
}

/** The trailers to send: undefined if there are none. */
export function checkTrailers(fields: HeaderFields): HeaderFields | undefined | 'unsendable' {
  if (fields.length === 0) return undefined;
  try {
    checkValues(fields);
  } catch {
    return 'unsendable';
  }
  return fields;
}
