import type { Clock, Timer } from '../clock.ts';
import type { HeaderFields } from '../fields/header-fields.ts';
import { parseFieldLines } from '../fields/parse-field-lines.ts';
import { ControlFields } from './framing.ts';

/*
 * Fields that come again and again. Their lines are parsed once, so that messages share the list of fields, and what
 * is computed from such a list is computed once (docs/adr/0084).
 */

/** How long a list is kept for further messages, in use or not, because it may contain a credential. */
export const KEPT_MS = 10_000;

/** How many blocks are kept, and the longest of them, so that all of them take at most half a megabyte. */
const SLOTS = 128;
const MAX_CHARS = 2048;
/** How many characters of a block choose its slot: a power of two. */
const SAMPLES_LOG2 = 4;
/** A hit earns one credit. Without the credit to keep a block, one in `PROBED` is looked up. */
const MAX_CREDIT = 256;
const COST_OF_KEEPING = 16;
const PROBED = 64;

const shared = new WeakSet<HeaderFields>();

/** Several messages have this list, because their field lines were the same. Nobody may change it. */
export function shareFields(fields: HeaderFields): void {
  shared.add(fields);
}

/**
 * Caches what is computed from a list of fields alone, for those lists that several messages share, as long as the list
 * itself is kept. `read` is what was computed from it before.
 */
export function cacheByFields<Value extends object | string, Read = void>(
  compute: (fields: HeaderFields, read: Read) => Value,
): (fields: HeaderFields, read: Read) => Value {
  const known = new WeakMap<HeaderFields, Value>();
  return (fields, read) => {
    const found = known.get(fields);
    if (found !== undefined) return found;
    const value = compute(fields, read);
    if (shared.has(fields)) known.set(fields, value);
    return value;
  };
}

/** The field lines of a head, parsed. */
export interface FieldBlock {
  readonly fields: HeaderFields;
  readonly control: ControlFields;
}

/** As `parseFieldLines`. With `blocks`, one that repeats is parsed once. */
export function parseFieldBlock(
  text: string,
  start: number,
  maxLines: number,
  blocks?: FieldBlocks,
): FieldBlock | 'malformed' | 'too_many_lines' {
  if (blocks !== undefined) return blocks.parse(text, start, maxLines);
  const control = new ControlFields();
  const fields = parseFieldLines(text, start, maxLines, control);
  return typeof fields === 'string' ? fields : { fields, control };
}

/**
 * The blocks of field lines that come again and again, as on most connections of a caller. A block is kept when it comes
 * for the second time, and for at most ten seconds. Where blocks do not repeat they are not looked up any more, except a
 * few, which show whether they do now.
 */
export class FieldBlocks {
  readonly #clock: Clock;
  readonly #texts = new Array<string>(SLOTS).fill('');
  readonly #blocks = new Array<FieldBlock | undefined>(SLOTS).fill(undefined);
  /** The key of the last block of each slot that was not kept. */
  readonly #keys = new Int32Array(SLOTS);
  #credit = MAX_CREDIT;
  #skipped = 0;
  #timer: Timer | undefined = undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As `parseFieldBlock`, with the same result. The text before `start` must be valid. */
  parse(
    text: string,
    start: number,
    maxLines: number,
  ): FieldBlock | 'malformed' | 'too_many_lines' {
    const isLookedUp = text.length - start <= MAX_CHARS && this.#mayRepeat();
    if (!isLookedUp) return parseFieldBlock(text, start, maxLines);
    const key = keyOf(text, start);
    const slot = key & (SLOTS - 1);
    const block = this.#blocks[slot];
    if (block !== undefined && this.#texts[slot] === text.slice(start)) {
      this.#credit = Math.min(MAX_CREDIT, Math.max(COST_OF_KEEPING, this.#credit) + 1);
      return block.fields.length > maxLines * 2 ? 'too_many_lines' : block;
    }
    if (this.#keys[slot] === key) return this.#keep(slot, text.slice(start), maxLines);
    this.#keys[slot] = key;
    this.#credit -= 1;
    return parseFieldBlock(text, start, maxLines);
  }

  #mayRepeat(): boolean {
    if (this.#credit >= COST_OF_KEEPING) return true;
    this.#skipped += 1;
    if (this.#skipped < PROBED) return false;
    this.#skipped = 0;
    return true;
  }

  #keep(slot: number, lines: string, maxLines: number) {
    this.#credit = Math.max(0, this.#credit - COST_OF_KEEPING);
    // A copy, because the values are slices, which would keep the whole message in memory.
    const text = Buffer.from(lines, 'latin1').toString('latin1');
    const block = parseFieldBlock(text, 0, maxLines);
    if (typeof block === 'string') return block;
    shareFields(block.fields);
    this.#texts[slot] = text;
    this.#blocks[slot] = block;
    this.#timer ??= this.#clock.setTimer(KEPT_MS, () => {
      this.clear();
    });
    return block;
  }

  /** Forgets all blocks. Call it when no more heads are expected. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#texts.fill('');
    this.#blocks.fill(undefined);
  }
}

/** A number that differs for most blocks, from their length and a few characters. */
function keyOf(text: string, start: number): number {
  const chars = text.length - start;
  let key = chars;
  for (let at = 0; at < 1 << SAMPLES_LOG2; at += 1) {
    const code = text.charCodeAt(start + ((chars * at) >> SAMPLES_LOG2));
    key = (Math.imul(key, 31) + code) | 0;
  }
  return key;
}
