import { STATUS_CODES } from 'node:http';
import type { HeaderFields } from '../fields/header-fields.ts';
import type { Socket } from 'node:net';
import type { BodyBytes } from './body-bytes.ts';
import { isInReadBuffer, READ_BUFFER } from './read-buffer.ts';
import { WriteBuffers } from './write-buffers.ts';

/* How messages are written: the lines of their fields, and the parts of their bodies. */

/** Characters that no field value may contain (RFC 9110 section 5.5). */
export const NOT_FIELD_TEXT = /[^\t\x20-\x7e\x80-\xff]/;
/**
 * Characters that would end a field line, also when they are truncated to one byte. This is enough for values that were
 * validated when they were read, and takes half the time.
 */
export const ENDS_LINE = /[\r\n\u0100-\uffff]/;

const LAST_CHUNK = '0\r\n\r\n';

/** The recipient would read the message differently. */
export class UnsendableError extends Error {
  override readonly name = 'UnsendableError';
}

/**
 * Returns the lines of those fields for which `keep` returns true, each with its CRLF. Each character is one byte.
 *
 * Names are not checked, because each was validated when it was read from a head or from the configuration.
 *
 * @param invalid matches values that must not be sent
 * @throws UnsendableError if a value matches it, because a line break would add another field
 */
export function fieldLines(
  fields: HeaderFields,
  invalid: RegExp,
  keep?: (name: string, value: string) => boolean,
): string {
  let text = '';
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

/** Fields that were read from a head and are sent on. Their lines are made once, for all messages that share them. */
export class ForwardedFields {
  readonly fields: HeaderFields;
  #lines: string | undefined = undefined;

  constructor(fields: HeaderFields) {
    this.fields = fields;
  }

  /** The lines of the fields, each with its CRLF. */
  get lines(): string {
    return (this.#lines ??= fieldLines(this.fields, ENDS_LINE));
  }
}

/** The same of a response. */
export class PassedFields extends ForwardedFields {
  /** Whether they have a Content-Length, and a Date. */
  hasLength = false;
  hasDate = false;

  constructor(fields: HeaderFields) {
    super(fields);
    for (let index = 0; index < fields.length; index += 2) {
      const name = fields[index] ?? '';
      if (name.length === 14) this.hasLength ||= name.toLowerCase() === 'content-length';
      else if (name.length === 4) this.hasDate ||= name.toLowerCase() === 'date';
    }
  }
}

/** For a response with only the gateway's own fields. */
export const NONE_PASSED = new PassedFields([]);

/** A complete head, for a response that is written without `ServerResponse`. */
export function responseHead(
  status: number,
  fields: HeaderFields,
  statusText = STATUS_CODES[status] ?? '',
): string {
  return `HTTP/1.1 ${status} ${statusText}\r\n${fieldLines(fields, NOT_FIELD_TEXT)}\r\n`;
}

/**
 * The end of a chunked body: the last chunk, and the trailers, if there are any (RFC 9112 section 7.1).
 *
 * @throws UnsendableError if the value of a trailer contains a control character
 */
export function endOfChunks(trailers: HeaderFields | undefined): string {
  if (trailers === undefined) return LAST_CHUNK;
  return `0\r\n${fieldLines(trailers, NOT_FIELD_TEXT)}\r\n`;
}

/** The size line of a chunk (RFC 9112 section 7.1). */
export function chunkSizeLine(bytes: number): string {
  return `${bytes.toString(16)}\r\n`;
}

/**
 * Up to this size a part of a body is joined with the text around it to one string. A longer string costs more than a
 * copy: it is made twice, each time in memory that no cache of the CPU holds.
 */
const JOINED_BYTES = 1024;
/** Up to this size a part that stays valid is copied next to the text around it: two parts of a write cost more. */
const COPIED_BYTES = 16 * 1024;
/** The room in a write buffer for the text before and after a part. */
const TEXT_BYTES = 4 * 1024;
/** Together they keep at most seven megabytes. */
const MAX_UNUSED = 64;
/** Two sizes, so that bytes that wait for a slow reader take at most about twice their memory. */
const HALF_READS = new WriteBuffers(READ_BUFFER.length / 2 + TEXT_BYTES, MAX_UNUSED);
const WHOLE_READS = new WriteBuffers(READ_BUFFER.length + TEXT_BYTES, MAX_UNUSED);

/**
 * Writes a part of a body between two texts. The part need only be valid until the call returns if it lies in the read
 * buffer, else until it is written.
 *
 * Returns false if the socket accepts no more at present, until `drain`.
 */
export function writeBody(socket: Socket, bytes: BodyBytes, before = '', after = ''): boolean {
  const more = writeParts(socket, bytes, before, after);
  // `write` returns false for a part as large as the buffer of the socket, also if the system took all of it at once.
  return more || (socket.writableLength === 0 && !socket.destroyed);
}

function writeParts(socket: Socket, bytes: BodyBytes, before: string, after: string): boolean {
  if (typeof bytes === 'string') return socket.write(before + bytes + after, 'latin1');
  const isBorrowed = isInReadBuffer(bytes);
  const hasText = before !== '' || after !== '';
  if (bytes.length <= JOINED_BYTES && (isBorrowed || hasText)) {
    return socket.write(before + bytes.toString('latin1') + after, 'latin1');
  }
  const isCopied = isBorrowed || (hasText && bytes.length <= COPIED_BYTES);
  if (!isCopied) return writeApart(socket, bytes, before, after);
  if (before.length + after.length <= TEXT_BYTES) return writeCopy(socket, bytes, before, after);
  if (before !== '') socket.write(before, 'latin1');
  const more = writeCopy(socket, bytes, '', '');
  return after === '' ? more : socket.write(after, 'latin1');
}

/** Writes the texts and the part without a copy, in one system call. */
function writeApart(socket: Socket, bytes: Buffer, before: string, after: string): boolean {
  if (before === '' && after === '') return socket.write(bytes);
  socket.cork();
  if (before !== '') socket.write(before, 'latin1');
  let more = socket.write(bytes);
  if (after !== '') more = socket.write(after, 'latin1');
  socket.uncork();
  return more;
}

/** Copies all three into one buffer. */
function writeCopy(socket: Socket, bytes: Buffer, before: string, after: string): boolean {
  if (bytes.length <= COPIED_BYTES && socket.writableLength > 0) {
    // It waits behind other writes. Many short parts would each take the memory of half a read.
    const memory = Buffer.allocUnsafeSlow(before.length + bytes.length + after.length);
    copyAll(memory, bytes, before, after);
    return socket.write(memory);
  }
  const isHalf = bytes.length <= READ_BUFFER.length / 2;
  const buffer = (isHalf ? HALF_READS : WHOLE_READS).take();
  return buffer.write(socket, copyAll(buffer.memory, bytes, before, after));
}

/** Returns how many bytes it wrote. */
function copyAll(memory: Buffer, bytes: Buffer, before: string, after: string): number {
  let end = before === '' ? 0 : memory.write(before, 'latin1');
  end += bytes.copy(memory, end);
  if (after !== '') end += memory.write(after, end, 'latin1');
  return end;
}
