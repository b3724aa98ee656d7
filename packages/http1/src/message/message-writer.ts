import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { HeaderFields } from '../fields/header-fields.ts';
import type { BodyBytes } from './body-bytes.ts';

/** Up to this size a piece of a body is joined to what stands around it, so that all goes out in one write. */
const JOINED_BYTES = 16 * 1024;

/** What no field value may hold (RFC 9110 section 5.5). */
export const NOT_FIELD_TEXT = /[^\t\x20-\x7e\x80-\xff]/;
/**
 * What would end a field line, as it is or cut to one byte. Enough for values that were validated where they were read,
 * and found in half the time.
 */
export const ENDS_LINE = /[\r\n\u0100-\uffff]/;

/** What ends a chunked body, without trailers (RFC 9112 section 7.1). */
export const LAST_CHUNK = '0\r\n\r\n';

/** The interim response that asks for the body (RFC 9110 section 15.2.1). */
export const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

/** A message that would be read as something else if it was sent. */
export class UnsendableError extends Error {
  override readonly name = 'UnsendableError';
}

/**
 * The start line and the lines of those fields for which `keep` returns true, each with its CRLF; one character a
 * byte. The caller adds the empty line that ends the head.
 *
 * Names are not checked again: each was found to be a field name where it was read, in a head or in the configuration.
 *
 * @param invalid what no value may hold
 * @throws UnsendableError if a value holds it: a line break would make two fields of one
 */
export function headLines(
  startLine: string,
  fields: HeaderFields,
  invalid: RegExp,
  keep?: (name: string, value: string) => boolean,
): string {
  let text = `${startLine}\r\n`;
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    const value = fields[index + 1] ?? '';
    if (invalid.test(value)) {
      throw new UnsendableError(`the value of the field ${name} holds a control character`);
    }
    // Joined from the left, piece by piece: such a string is copied into the socket's buffer fastest.
    if (keep === undefined || keep(name, value)) text = text + name + ': ' + value + '\r\n';
  }
  return text;
}

/** A whole head, for a response that is written by hand. */
export function responseHead(
  status: number,
  fields: HeaderFields,
  statusText = STATUS_CODES[status] ?? '',
): string {
  return `${headLines(`HTTP/1.1 ${status} ${statusText}`, fields, NOT_FIELD_TEXT)}\r\n`;
}

/** The size line of a chunk (RFC 9112 section 7.1). */
export function chunkSizeLine(bytes: number): string {
  return `${bytes.toString(16)}\r\n`;
}

/** Writes bytes of a body between two texts. Returns false if the socket has more to send than it should. */
export function writeJoined(
  socket: Socket,
  before: string,
  bytes: BodyBytes,
  after: string,
): boolean {
  if (typeof bytes === 'string' || bytes.length <= JOINED_BYTES) {
    if (before === '' && after === '' && typeof bytes !== 'string') return socket.write(bytes);
    const text = typeof bytes === 'string' ? bytes : bytes.toString('latin1');
    return socket.write(before + text + after, 'latin1');
  }
  socket.cork();
  if (before !== '') socket.write(before, 'latin1');
  let more = socket.write(bytes);
  if (after !== '') more = socket.write(after, 'latin1');
  socket.uncork();
  return more;
}
