/**
 * How servers read a path that has bytes above ASCII. In all texts here each character is one byte.
 */

const NON_ASCII = /[\x80-\xff]/;

/** What some servers take for ASCII, as the bytes of its UTF-8: by compatibility, or by the best fit of a code page. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ '\uff0e': '.', '\u2024': '.', '\ufe52': '.', '\u2025': '..' },
    ...{ '\uff0f': '/', '\u2215': '/', '\u2044': '/' },
    ...{ '\uff3c': '\\', '\ufe68': '\\', '\u2216': '\\', '\u00a5': '\\', '\u20a9': '\\' },
    ...{ '\uff1b': ';', '\uff1f': '?', '\uff03': '#', '\uff05': '%', '\ufe6a': '%' },
  }).map(([character, ascii]) => [Buffer.from(character).toString('latin1'), ascii]),
);
const LOOKALIKE = new RegExp([...LOOKALIKES.keys()].join('|'), 'g');

/** A byte whose lower six bits are 0, and one where they are at most 1: a lenient decoder looks at no others. */
const ZERO = '[@\\x80\\xc0]';
const UP_TO_ONE = '[@A\\x80\\x81\\xc0\\xc1]';
/** A character below U+0080 in two to seven bytes of UTF-8 instead of one. */
const OVERLONG = new RegExp(
  `([\\xc0\\xc1])([^])|(?:${['\\xe0', `\\xf0${ZERO}`, `\\xf8${ZERO}{2}`, `\\xfc${ZERO}{3}`, `\\xfe${ZERO}{4}`].join('|')})(${UP_TO_ONE})([^])`,
  'g',
);

/** A character of well-formed UTF-8 (RFC 3629 section 4), or any other byte above ASCII. */
const CHARACTER =
  /([\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf4][\x80-\xbf]{3})|[\x80-\xff]/g;

/** The texts that a server may see in place of this one; at least the text itself without tabs and line breaks. */
export function readingsOf(text: string): readonly string[] {
  // URL parsers remove these characters (https://url.spec.whatwg.org/#concept-basic-url-parser), before or after bytes
  // become characters.
  const visible = withoutLineBreaks(text);
  const readings = asCharacters(visible);
  return visible === text ? readings : [...readings, ...asCharacters(text).map(withoutLineBreaks)];
}

function asCharacters(text: string): readonly string[] {
  if (!NON_ASCII.test(text)) return [text];
  const lookalikes = text.replace(LOOKALIKE, (character) => LOOKALIKES.get(character) ?? '');
  const readings = lookalikes === text ? [text] : [text, lookalikes];
  const dropped = text.replace(CHARACTER, (_all, character?: string) => character ?? '');
  if (dropped === text) return readings;
  // Not UTF-8: decoders drop such bytes, write a question mark for them, or take them for another character.
  const replaced = text.replace(CHARACTER, (_all, character?: string) => character ?? '?');
  return [
    ...readings,
    dropped,
    replaced,
    withoutLineBreaks(text.replace(OVERLONG, decodeOverlong)),
  ];
}

function withoutLineBreaks(text: string): string {
  return text.replace(/[\t\n\r]/g, '');
}

/** Takes the lower bits of the last two bytes, as a decoder does that checks neither the length nor the upper bits. */
function decodeOverlong(_all: string, lead = '', only = '', high = '', low = ''): string {
  return String.fromCharCode(
    (((lead + high).charCodeAt(0) & 1) << 6) | ((only + low).charCodeAt(0) & 0x3f),
  );
}
