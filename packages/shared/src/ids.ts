import { randomFillSync } from 'node:crypto';

/** Crockford's base 32. It has no I, L, O, U, so an id can be read aloud; text order is numeric order. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ALPHABET_BYTES = Buffer.from(ALPHABET);
const TIME_CHARS = 10;
const RANDOM_CHARS = 16;

export type IdPrefix = 'req' | 'svc' | 'rte' | 'tok' | 'ups' | 'aud' | 'env';

/** Fills the buffer with unpredictable bytes. */
export type RandomSource = (bytes: Uint8Array) => void;

const pool = Buffer.alloc(8192);
/** A longer draw does not use the pool. */
const MAX_POOLED_BYTES = 64;
let drawn = pool.length;

/**
 * Draws from the system. Short draws come from a pool that is filled as a whole, because one from the system costs some
 * microseconds however short it is. What was drawn is erased from the pool.
 */
export const systemRandom: RandomSource = (bytes) => {
  if (bytes.length > MAX_POOLED_BYTES) {
    randomFillSync(bytes);
    return;
  }
  if (drawn + bytes.length > pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  const end = drawn + bytes.length;
  bytes.set(pool.subarray(drawn, end));
  pool.fill(0, drawn, end);
  drawn = end;
};

/**
 * Creates ids: a prefix, `_` and 26 characters, which encode 48 bits of milliseconds since the Unix epoch and 80 random bits
 * (the layout of ULID). They sort by time and cannot be guessed.
 *
 * `atMs` is the current time if the caller has it already, ms since the Unix epoch.
 *
 * Random bytes are drawn and encoded in blocks, because one draw for each request would cost more than all other
 * bookkeeping of the request.
 */
export function createIdFactory(
  nowMs: () => number,
  random: RandomSource = systemRandom,
): (prefix: IdPrefix, atMs?: number) => string {
  const block = Buffer.alloc(RANDOM_CHARS * 256);
  const randomChars = piecesOf(() => {
    random(block);
    for (let index = 0; index < block.length; index += 1) {
      block[index] = ALPHABET_BYTES[(block[index] ?? 0) & 31] ?? 0;
    }
    return block.toString('latin1');
  });
  const textOfTime = timeTexts();
  return (prefix, atMs = nowMs()) => `${prefix}_${textOfTime(atMs)}${randomChars(RANDOM_CHARS)}`;
}

const TAIL_CHARS = 2;
/** Every value of the last characters of a time, which span about a second. */
const TAILS = Array.from(
  { length: 32 ** TAIL_CHARS },
  (_none, index) => ALPHABET.charAt(index >> 5) + ALPHABET.charAt(index & 31),
);

/** As `encodeTime`, but encodes the part before the tail only once for all times that share it. */
function timeTexts(): (ms: number) => string {
  let lastSpan = -1;
  let head = '';
  return (ms) => {
    const span = Math.floor(ms / TAILS.length);
    if (span !== lastSpan) {
      lastSpan = span;
      head = encodeTime(ms).slice(0, -TAIL_CHARS);
    }
    return head + (TAILS[Math.floor(ms) % TAILS.length] ?? '');
  };
}

function encodeTime(ms: number): string {
  let text = '';
  for (let index = 0, rest = ms; index < TIME_CHARS; index += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** The smallest id of a prefix at a time, ms since the Unix epoch. */
export function lowestId(prefix: IdPrefix, ms: number): string {
  return `${prefix}_${encodeTime(ms)}${ALPHABET.charAt(0).repeat(RANDOM_CHARS)}`;
}

const ID = /^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$/;

/** Whether the text has the form of an id with this prefix. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return ID.test(text) && text.startsWith(`${prefix}_`);
}

/** The creation time of an id, ms since the Unix epoch. The text must satisfy `isId`. */
export function timeOfId(id: string): number {
  let ms = 0;
  for (const char of id.slice(4, 4 + TIME_CHARS)) ms = ms * 32 + ALPHABET.indexOf(char);
  return ms;
}

/**
 * Cuts pieces from a block of random text, using each part once, and draws a new block when the rest is too short. Drawing
 * random text in blocks costs a fraction of drawing each piece.
 */
export function piecesOf(makeText: () => string): (chars: number) => string {
  let text = '';
  let used = 0;
  return (chars) => {
    if (used + chars > text.length) {
      text = makeText();
      used = 0;
    }
    used += chars;
    return text.slice(used - chars, used);
  };
}
