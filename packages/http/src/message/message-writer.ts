import { STATUS_CODES } from 'node:http';
import type { HeaderFields } from '../fields/header-fields.ts';

/** Characters that no field value may contain (RFC 9110 section 5.5). */
export const NOT_FIELD_TEXT = /[^\t\x20-\x7e\x80-\xff]/;
/**
 * Characters that would end a field line, also when they are truncated to one byte. This is enough for values that were
 * validated when they were read, and takes half the time.
 */
export const ENDS_LINE = /[\r\n\u0100-\uffff]/;

/** The end of a chunked body without trailers (RFC 9112 section 7.1). */
export const LAST_CHUNK = '0\r\n\r\n';

/** The interim response that requests the body (RFC 9110 section 15.2.1). */
export const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

/** The recipient would read the message differently. */
export class UnsendableError extends Error {
  override readonly name = 'UnsendableError';
}

/**
 * Returns the start line and the lines of those fields for which `keep` returns true, each with its CRLF. Each character
 * is one byte. The caller adds the empty line that ends the head.
 *
 * Names are not checked, because each was validated when it was read from a head or from the configuration.
 *
 * @param invalid matches values that must not be sent
 * @throws UnsendableError if a value matches it, because a line break would add another field
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
      throw new UnsendableError(`the value of the field ${name} contains a control character`);
    }
    // Joined from the left in small steps, because such a string is copied into the buffer of the socket fastest.
    if (keep === undefined || keep(name, value)) text = text + name + ': ' + value + '\r\n';
  }
  return text;
}

/** A complete head, for a response that is written without `ServerResponse`. */
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
