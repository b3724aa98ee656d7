import { cacheByName } from '../../fields/name-cache.ts';
import { FIELD_BYTES, MAX_TABLE_BYTES } from '../protocol.ts';
import { KIND, fieldName } from './field-kinds.ts';
import { STATIC_COUNT } from './field-table.ts';
import { STATIC_TABLE } from './static-table.ts';

/** The most that a field takes beyond its name and its value: three integers. */
export const MAX_FIELD_OVERHEAD = 16;

/** A longer value is not added to the table, so that the values that a connection remembers stay small. */
const MAX_INDEXED_VALUE = 256;
/** After so many values of a name in a row that did not repeat, they are no longer added to the table. */
const MAX_MISSES = 4;
/** Names that a connection remembers. Fields of other names are sent without the table. */
const MAX_NAMES = 128;
/** Positions of a block for which the name of the last block is tried first. */
const MAX_HINTS = 32;

/** Secrets, which no later hop may add to a table either (RFC 7541 section 7.1.3). */
const NEVER_INDEXED = new Set(['authorization', 'cookie', 'proxy-authorization', 'set-cookie']);
/** Names whose values seldom repeat. */
const UNINDEXED = new Set(
  [':path', 'age', 'content-length', 'content-range', 'etag', 'last-modified', 'location'].concat([
    'if-modified-since',
    'if-none-match',
    'if-range',
  ]),
);

const NEVER = 0x10;
const WITHOUT = 0x00;
const WITH = 0x40;
const INDEXED = 0x80;
const RESIZE = 0x20;

const STATIC_NAMES = new Map<string, number>();
const STATIC_VALUES = new Map<string, Map<string, number>>();
for (const [index, [name, value]] of STATIC_TABLE.entries()) {
  if (!STATIC_NAMES.has(name)) STATIC_NAMES.set(name, index + 1);
  if (value === '') continue;
  const values = STATIC_VALUES.get(name) ?? new Map<string, number>();
  STATIC_VALUES.set(name, values.set(value, index + 1));
}

/** What is known of a name on all connections. */
interface SentName {
  /** In lower case. */
  readonly name: string;
  /** Of the connection (RFC 9113 section 8.2.2), so it is not sent with another value than this one. */
  readonly isDropped: boolean;
  readonly onlyValue: string | undefined;
  readonly staticIndex: number;
  readonly staticValues: ReadonlyMap<string, number> | undefined;
  readonly form: typeof NEVER | typeof WITHOUT | typeof WITH;
}

const sentName = cacheByName((spelling): SentName => {
  const name = spelling.toLowerCase();
  const { kind } = fieldName(name);
  const isSecret = NEVER_INDEXED.has(name);
  return {
    name,
    isDropped: kind === KIND.invalid || kind === KIND.dropped || name === 'te',
    onlyValue: name === 'te' ? 'trailers' : undefined,
    staticIndex: STATIC_NAMES.get(name) ?? 0,
    staticValues: STATIC_VALUES.get(name),
    form: isSecret ? NEVER : UNINDEXED.has(name) ? WITHOUT : WITH,
  };
});

/** What one connection knows of a name: its last value in the table. Positions count all entries that were ever added. */
class KnownName {
  readonly spelling: string;
  readonly sent: SentName;
  value: string | undefined = undefined;
  position = -1;
  misses = 0;
  /** The last value that was not added. If it comes again, values of this name repeat. */
  lastMissed: string | undefined = undefined;

  constructor(spelling: string, sent: SentName) {
    this.spelling = spelling;
    this.sent = sent;
  }
}

/**
 * The encoder of one direction of a connection (RFC 7541). It keeps the last value of each name in the table: a response
 * mostly has the fields of the response before. It does not use the Huffman code, which saves a fifth of few bytes and
 * costs more than all the rest.
 */
export class Encoder {
  readonly #names = new Map<string, KnownName>();
  /** The names of the last block by position, because the next one mostly has the same. */
  readonly #hints: (KnownName | undefined)[] = [];
  /** Sizes of the entries in the table, the oldest at `#oldestAt`. */
  #sizes: number[] = [];
  #oldestAt = 0;
  /** Positions of the oldest entry and of the next one. */
  #oldest = 0;
  #next = 0;
  #bytes = 0;
  #maxBytes = MAX_TABLE_BYTES;
  /** Sizes to announce in the next block: the smallest since the last one, and the present one. */
  #smallest: number | undefined = undefined;

  /** The peer limits the table (SETTINGS_HEADER_TABLE_SIZE). */
  limit(maxBytes: number): void {
    const bytes = Math.min(maxBytes, MAX_TABLE_BYTES);
    if (bytes === this.#maxBytes) return;
    this.#smallest = Math.min(this.#smallest ?? this.#maxBytes, bytes);
    this.#maxBytes = bytes;
    this.#evict(bytes);
  }

  /** Writes what precedes the fields of a block: at most ten bytes. Returns the position after it, like all below. */
  begin(out: Buffer, at: number): number {
    if (this.#smallest === undefined) return at;
    let end = at;
    if (this.#smallest < this.#maxBytes) end = writeInteger(out, end, RESIZE, 0x1f, this.#smallest);
    end = writeInteger(out, end, RESIZE, 0x1f, this.#maxBytes);
    this.#smallest = undefined;
    return end;
  }

  status(out: Buffer, at: number, status: number): number {
    if (status === 200) {
      out[at] = INDEXED | 8;
      return at + 1;
    }
    return this.#write(out, at, this.#named(':status', MAX_HINTS), String(status));
  }

  /**
   * Writes a field, unless it is of the connection. Needs room for its name, its value and MAX_FIELD_OVERHEAD.
   *
   * @param order the position of the field in its block
   */
  field(out: Buffer, at: number, spelling: string, value: string, order: number): number {
    let known = this.#hints[order];
    if (known?.spelling !== spelling) known = this.#named(spelling, order);
    const { isDropped, onlyValue } = known.sent;
    return isDropped && value !== onlyValue ? at : this.#write(out, at, known, value);
  }

  #named(spelling: string, order: number): KnownName {
    let known = this.#names.get(spelling);
    if (known === undefined) {
      known = new KnownName(spelling, sentName(spelling));
      if (this.#names.size >= MAX_NAMES) return known;
      this.#names.set(spelling, known);
    }
    if (order < MAX_HINTS) this.#hints[order] = known;
    return known;
  }

  #write(out: Buffer, at: number, known: KnownName, value: string): number {
    const { sent } = known;
    if (known.value === value && known.position >= this.#oldest) {
      known.misses = 0;
      return writeInteger(out, at, INDEXED, 0x7f, this.#indexOf(known.position));
    }
    const staticIndex = sent.staticValues?.get(value);
    if (staticIndex !== undefined) return writeInteger(out, at, INDEXED, 0x7f, staticIndex);
    const index = this.#nameIndex(known);
    if (sent.form !== WITH || !this.#isWorthAdding(known, value)) {
      const form = sent.form === WITH ? WITHOUT : sent.form;
      return writeLiteral(out, at, form, 0x0f, index, sent.name, value);
    }
    this.#add(known, value);
    return writeLiteral(out, at, WITH, 0x3f, index, sent.name, value);
  }

  /** The index of an entry that has this name, or 0. */
  #nameIndex({ sent, position }: KnownName): number {
    if (sent.staticIndex !== 0) return sent.staticIndex;
    return position >= this.#oldest ? this.#indexOf(position) : 0;
  }

  #indexOf(position: number): number {
    return STATIC_COUNT + this.#next - position;
  }

  #isWorthAdding(known: KnownName, value: string): boolean {
    if (value.length > MAX_INDEXED_VALUE) return false;
    if (known.misses < MAX_MISSES) {
      known.misses += 1;
      return true;
    }
    if (known.lastMissed === value) {
      known.misses = 0;
      known.lastMissed = undefined;
      return true;
    }
    known.lastMissed = value;
    return false;
  }

  #add(known: KnownName, value: string): void {
    const bytes = known.sent.name.length + value.length + FIELD_BYTES;
    this.#evict(this.#maxBytes - bytes);
    if (bytes > this.#maxBytes) return;
    this.#sizes.push(bytes);
    this.#bytes += bytes;
    known.position = this.#next;
    known.value = value;
    this.#next += 1;
  }

  #evict(maxBytes: number): void {
    while (this.#oldest < this.#next && this.#bytes > maxBytes) {
      this.#bytes -= this.#sizes[this.#oldestAt] ?? 0;
      this.#oldestAt += 1;
      this.#oldest += 1;
    }
    if (this.#oldestAt > MAX_TABLE_BYTES / FIELD_BYTES) {
      this.#sizes = this.#sizes.slice(this.#oldestAt);
      this.#oldestAt = 0;
    }
  }
}

function writeLiteral(
  out: Buffer,
  at: number,
  form: number,
  mask: number,
  index: number,
  name: string,
  value: string,
): number {
  let end = writeInteger(out, at, form, mask, index);
  if (index === 0) end = writeString(out, end, name);
  end = writeString(out, end, value);
  return end;
}

/** RFC 7541 section 5.1. */
function writeInteger(out: Buffer, at: number, form: number, mask: number, value: number): number {
  if (value < mask) {
    out[at] = form | value;
    return at + 1;
  }
  out[at] = form | mask;
  let end = at + 1;
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) out[end++] = (rest & 0x7f) | 0x80;
  out[end] = rest;
  return end + 1;
}

/** Up to this length a loop is faster than a call into C++. */
const MAX_LOOP = 48;

/** RFC 7541 section 5.2, without the Huffman code. Each character is one byte. */
function writeString(out: Buffer, at: number, text: string): number {
  const { length } = text;
  const start = writeInteger(out, at, 0, 0x7f, length);
  if (length > MAX_LOOP) out.write(text, start, 'latin1');
  else for (let index = 0; index < length; index += 1) out[start + index] = text.charCodeAt(index);
  return start + length;
}
