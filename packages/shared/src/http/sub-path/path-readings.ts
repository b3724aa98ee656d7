import { isHexDigit, type PathBytes } from './path-bytes.ts';
import { ALL_STATES, FIRST_STATE, following, foundAtEnd, MEANS } from './segment-states.ts';

/** What a byte may be for a server, beside what `MEANS` has. */
const KIND = { percent: -1, digit: -2, lineBreak: -3 } as const;
/** One of `KIND` or `MEANS`. */
type Kind = number;

const KINDS: readonly Kind[] = Array.from({ length: 128 }, (_none, byte): Kind => {
  if (isHexDigit(byte)) return KIND.digit;
  if (byte === 0) return MEANS.end;
  const kinds: Readonly<Record<string, Kind>> = {
    ...{ '.': MEANS.dot, '/': MEANS.separator, '\\': MEANS.separator, ';': MEANS.parameter },
    ...{ '?': MEANS.end, '#': MEANS.end, ' ': MEANS.space, '%': KIND.percent },
    ...{ '\t': KIND.lineBreak, '\n': KIND.lineBreak, '\r': KIND.lineBreak },
  };
  return kinds[String.fromCharCode(byte)] ?? MEANS.other;
});

/** What some servers take for ASCII, by compatibility or by the best fit of a code page. The keys are bytes of UTF-8. */
const LOOKALIKES: ReadonlyMap<number, { readonly size: number; readonly ascii: string }> = new Map(
  Object.entries({
    ...{ '\uff0e': '.', '\u2024': '.', '\ufe52': '.', '\u2025': '..' },
    ...{ '\uff0f': '/', '\u2215': '/', '\u2044': '/' },
    ...{ '\uff3c': '\\', '\ufe68': '\\', '\u2216': '\\', '\u00a5': '\\', '\u20a9': '\\' },
    ...{ '\uff1b': ';', '\uff1f': '?', '\uff03': '#', '\uff05': '%', '\ufe6a': '%' },
  }).map(([character, ascii]) => {
    const bytes = Buffer.from(character);
    return [bytes.readUIntBE(0, bytes.length), { size: bytes.length, ascii }];
  }),
);

/** The size of an overlong character by its lead byte. */
const OVERLONG_SIZES = new Uint8Array(256);
for (const [index, lead] of [0xc0, 0xe0, 0xf0, 0xf8, 0xfc, 0xfe].entries()) {
  OVERLONG_SIZES[lead] = index + 2;
}
OVERLONG_SIZES[0xc1] = 2;

/** The length of the longest character in overlong UTF-8, and a power of two above it. */
const AHEAD = 8;
/** The sets of states behind a percent sign, and behind one with a digit. */
const IN_ESCAPE = 10;
const IN_DIGITS = 20;

/**
 * What servers do with bytes that are not UTF-8: drop them, write a question mark for each, or take them for overlong
 * characters. A path is read once for each, or once in all ways, if two servers that decode it in turn may differ.
 */
const READING = { drop: 1, questionMark: 1 << 1, overlong: 1 << 2 } as const;
const ALL_READINGS = READING.drop | READING.questionMark | READING.overlong;

/** What was found in a path. */
export interface Found {
  /** A set of `FOUND`. */
  readonly refusals: number;
  /** An escape that only some decoders see could be a control character. */
  readonly control: boolean;
  /** How many bytes were read, and how many characters that begin at them. */
  readonly steps: number;
}

/**
 * Reads a decoded path in all the ways in which servers read it. What counts of a server that has read up to a byte is
 * its state, so each byte is read a bounded number of times, however many servers and escapes there are.
 *
 * A few paths are refused that no server misreads: an escape that only some decoders see stands for any character.
 */
export function readPath(path: PathBytes): Found {
  let steps = 0;
  for (const readings of isMixed(path) ? [ALL_READINGS] : Object.values(READING)) {
    const reader = new PathReader(path, readings);
    reader.read();
    steps += reader.steps;
    const { refusals, control } = reader;
    if (refusals !== 0 || control || reader.isUtf8) return { refusals, control, steps };
    if (!reader.hasOddEscape || readings === ALL_READINGS) continue;
    const mixed = new PathReader(path, ALL_READINGS);
    mixed.read();
    return { refusals: mixed.refusals, control: mixed.control, steps: steps + mixed.steps };
  }
  return { refusals: 0, control: false, steps };
}

/** Whether the escapes need different numbers of decodings. */
function isMixed({ depths, length }: PathBytes): boolean {
  let first = 0;
  for (let at = 0; at < length; at += 1) {
    const depth = depths[at] ?? 0;
    if (depth === 0 || depth === first) continue;
    if (first !== 0) return true;
    first = depth;
  }
  return false;
}

class PathReader {
  refusals = 0;
  steps = 0;
  control = false;
  /** Whether all readings are the same. */
  isUtf8 = true;
  /** Whether there is an escape that only some decoders see. */
  hasOddEscape = false;
  readonly #path: PathBytes;
  /** A set of `READING`. */
  readonly #readings: number;
  /** The sets of states at the next bytes, by the lower bits of their position. */
  readonly #ahead = new Int32Array(AHEAD);
  /** Up to where a character has been read that began before. */
  #end = 0;
  #digit = 0;

  constructor(path: PathBytes, readings: number) {
    this.#path = path;
    this.#readings = readings;
  }

  read(): void {
    const { bytes, length } = this.#path;
    let sets: number = FIRST_STATE;
    for (let at = 0; at < length && this.refusals === 0;) {
      const byte = bytes[at] ?? 0;
      this.steps += 1;
      at += 1;
      if (byte < 0x80) sets = this.#after(sets, KINDS[byte] ?? MEANS.other, byte);
      else {
        if (sets !== 0) this.#readCharacter(at - 1, sets);
        sets = 0;
      }
      if (at > this.#end) continue;
      sets |= this.#ahead[at % AHEAD] ?? 0;
      this.#ahead[at % AHEAD] = 0;
    }
    if (this.refusals === 0) this.refusals = foundAtEnd(sets & ALL_STATES);
  }

  /** Follows the readings of a byte above ASCII. */
  #readCharacter(at: number, sets: number): void {
    const path = this.#path;
    const size = characterSize(path, at);
    if (size > 0) this.#to(at + size, this.#after(sets, MEANS.other));
    // Also a byte inside of a character, whose lead byte may have been the end of an overlong one.
    else this.#to(at + 1, this.#afterInvalid(sets));
    if ((this.#readings & READING.overlong) !== 0) this.#readOverlong(at, sets);
    if (this.#readings === READING.overlong) return;
    const lookalike = lookalikeAt(path, at);
    if (lookalike === undefined) return;
    let read = sets;
    for (const one of lookalike.ascii) {
      const byte = one.charCodeAt(0);
      read = this.#after(read, KINDS[byte] ?? MEANS.other, byte);
    }
    this.#to(at + lookalike.size, read);
  }

  #afterInvalid(sets: number): number {
    this.isUtf8 = false;
    const readings = this.#readings;
    if (readings === READING.drop) return sets;
    if (readings === READING.questionMark) return this.#after(sets, MEANS.end);
    const unread = this.#after(sets, MEANS.other);
    return readings === READING.overlong ? unread : unread | sets | this.#after(sets, MEANS.end);
  }

  #readOverlong(at: number, sets: number): void {
    const size = overlongSize(this.#path, at);
    if (size === 0) return;
    const { bytes, depths } = this.#path;
    const lowest = bytes[at + size - 1] ?? 0;
    const high = (size === 2 ? bytes[at] : bytes[at + size - 2]) ?? 0;
    const byte = ((high & 1) << 6) | (lowest & 0x3f);
    this.#to(at + size, this.#after(sets, KINDS[byte] ?? MEANS.other, byte));
    // A decoder that saw the percent sign of an escape in place of the last byte leaves only this sign of the character.
    const isLater = (depths[at + size - 1] ?? 0) > (depths[at] ?? 0);
    if (isLater && (high & 1) === 0) this.#to(at + size - 1, sets);
  }

  #to(end: number, sets: number): void {
    this.steps += 1;
    this.#ahead[end % AHEAD] = (this.#ahead[end % AHEAD] ?? 0) | sets;
    this.#end = Math.max(this.#end, end);
  }

  /** The sets after a character of this kind. */
  #after(sets: number, kind: Kind, byte = 0): number {
    const states = sets & ALL_STATES;
    if (kind >= 0) return this.#next(states, kind);
    const unread = this.#next(states, MEANS.other);
    if (kind === KIND.lineBreak) return sets | unread;
    const inEscape = (sets >> IN_ESCAPE) & ALL_STATES;
    const inDigits = (sets >> IN_DIGITS) & ALL_STATES;
    if (kind === KIND.percent) {
      return unread | ((states | inEscape) << IN_ESCAPE) | (inDigits << IN_DIGITS);
    }
    if ((inEscape | inDigits) === 0) return unread;
    if (inDigits !== 0) this.hasOddEscape = true;
    if (inDigits !== 0 && isControl(this.#digit, byte)) this.control = true;
    this.#digit = byte;
    return unread | ((inEscape | inDigits) << IN_DIGITS) | this.#next(inDigits, MEANS.any);
  }

  #next(states: number, meaning: number): number {
    const after = following(states, meaning);
    this.refusals |= after & ~ALL_STATES;
    return after & ALL_STATES;
  }
}

function lookalikeAt({ bytes, length }: PathBytes, at: number) {
  const lead = bytes[at] ?? 0;
  if (lead !== 0xc2 && lead !== 0xe2 && lead !== 0xef) return undefined;
  const size = lead === 0xc2 ? 2 : 3;
  if (at + size > length) return undefined;
  const two = lead * 256 + (bytes[at + 1] ?? 0);
  return LOOKALIKES.get(size === 2 ? two : two * 256 + (bytes[at + 2] ?? 0));
}

/** The size of the well-formed character of UTF-8 (RFC 3629 section 4) whose bytes every server saw together, or 0. */
function characterSize({ bytes, depths, length }: PathBytes, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (at + size > length) return 0;
  const second = bytes[at + 1] ?? 0;
  if ((lead === 0xe0 && second < 0xa0) || (lead === 0xf0 && second < 0x90)) return 0;
  for (let next = at + 1; next < at + size; next += 1) {
    if (((bytes[next] ?? 0) & 0xc0) !== 0x80 || depths[next] !== depths[at]) return 0;
  }
  return size;
}

/** The size of a character below U+0080 in two to seven bytes of UTF-8 instead of one, or 0. */
function overlongSize({ bytes, length }: PathBytes, at: number): number {
  const size = OVERLONG_SIZES[bytes[at] ?? 0] ?? 0;
  if (size === 0 || at + size > length) return 0;
  // A lenient decoder looks at the lower six bits alone. Only the lowest of those that are 0 in the value may be set.
  for (let next = at + 1; next < at + size - 1; next += 1) {
    const byte = bytes[next] ?? 0;
    const isLast = next === at + size - 2;
    if (byte < 0x40 || (byte & (isLast ? 0x3e : 0x3f)) !== 0) return 0;
  }
  return size;
}

function isControl(high: number, low: number): boolean {
  const digits = String.fromCharCode(high, low).toLowerCase();
  return digits === '7f' || digits.startsWith('0') || digits.startsWith('1');
}
