import { fieldNameAt } from './field-names.ts';

/** No control character, bare CR or bare LF. Each character is tried once, so this takes linear time. */
const VALID_LINES = /^(?:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
const SPACE = 0x20;
const TAB = 0x09;

/** Called with each field when it is read. */
export interface FieldVisitor {
  field(name: string, value: string): void;
}

/**
 * Parses field lines, each with its CRLF, from `start` to the end of a text in which each character is one byte. It
 * refuses what a lenient parser would repair, because two parsers that repair differently could read one message as two
 * (RFC 9112 sections 5 and 11).
 *
 * @returns the fields; `malformed` if any line of the text is malformed, also one before `start`; `too_many_lines` at
 * the first line beyond `maxLines`, because thousands of lines take milliseconds to collect
 */
export function parseFieldLines(
  text: string,
  start: number,
  maxLines: number,
  visitor: FieldVisitor,
): string[] | 'malformed' | 'too_many_lines' {
  if (!VALID_LINES.test(text)) return 'malformed';
  const fields: string[] = [];
  for (let at = start; at < text.length;) {
    if (fields.length >= maxLines * 2) return 'too_many_lines';
    // Here every CR ends a line, and there is at least one.
    const end = text.indexOf('\r', at);
    const colon = text.indexOf(':', at);
    if (colon === -1 || colon > end) return 'malformed';
    const name = fieldNameAt(text, at, colon);
    if (name === '') return 'malformed';
    const value = trimmed(text, colon + 1, end);
    fields.push(name, value);
    visitor.field(name, value);
    at = end + 2;
  }
  return fields;
}

/** A part of a text without the spaces and tabs around it. A loop, because a pattern would take quadratic time. */
export function trimmed(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}
