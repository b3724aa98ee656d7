import { withoutBlanks } from './blanks.ts';
import { fieldNameAt } from './field-names.ts';

/** No control character, and no half of a line's end. What a line may hold never ends it, so this takes linear time. */
const SOUND_LINES = /^(?:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;

/**
 * Reads the field lines from a place of a text to its end, each with its CRLF, strictly: what a
 * lenient parser would mend is refused, as two parsers that mend differently are how one message is taken for two
 * (RFC 9112 sections 5 and 11). Names and values are put behind one another into `fields`.
 * The text has one character a byte.
 *
 * Gives `malformed` where a line is not well-formed, one before that place included, `too_many_lines` as soon as that is so, as to collect
 * thousands of lines takes milliseconds.
 */
export function readFieldLines(
  text: string,
  start: number,
  maxLines: number,
  fields: string[],
): 'read' | 'malformed' | 'too_many_lines' {
  if (!SOUND_LINES.test(text)) return 'malformed';
  for (let at = start; at < text.length;) {
    if (fields.length >= maxLines * 2) return 'too_many_lines';
    // A CR ends a line here, and there is one.
    const end = text.indexOf('\r', at);
    const colon = text.indexOf(':', at);
    if (colon === -1 || colon > end) return 'malformed';
    const name = fieldNameAt(text, at, colon);
    if (name === '') return 'malformed';
    fields.push(name, withoutBlanks(text, colon + 1, end));
    at = end + 2;
  }
  return 'read';
}
