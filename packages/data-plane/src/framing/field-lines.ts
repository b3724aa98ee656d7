import { withoutBlanks } from './blanks.ts';
import { byName } from './by-name.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** No control character, and no half of a line's end. What a line may hold never ends it, so this takes linear time. */
const SOUND_LINES = /^(?:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;

/** The name in memory of its own; empty where it is none (RFC 9110 section 5.1). */
const soundName = byName((name) => (TOKEN.test(name) ? name : ''));

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
    const end = text.indexOf('\r\n', at);
    const colon = text.indexOf(':', at);
    if (colon === -1 || colon > end) return 'malformed';
    const name = soundName(text.slice(at, colon));
    if (name === '') return 'malformed';
    fields.push(name, withoutBlanks(text, colon + 1, end));
    at = end + 2;
  }
  return 'read';
}
