import { CHARACTER } from './characters.ts';
import { HpackError } from './hpack-error.ts';
import { INVALID_SYMBOL, MAY_END, NEXT_NODE, NO_SYMBOL, SYMBOL } from './huffman.ts';

/** The longest integer: five bytes after the prefix would exceed 2^28. */
const MAX_INTEGER_SHIFT = 21;

/**
 * Reads the integers and strings of a field block (RFC 7541 section 5). Of a string it keeps what is needed to tell
 * whether a field is valid, not its bytes.
 */
export class StringReader {
  #block: Buffer = Buffer.alloc(0);
  /** The position in the block. */
  at = 0;
  /** The length of the last string, decoded. */
  length = 0;
  /** The combined bits of its characters, without the first one. */
  laterCharacters = 0;
  firstByte = 0;
  lastByte = 0;
  /** Its last four bytes as an integer. */
  lastFourBytes = 0;

  /** Starts to read a block. */
  start(block: Buffer): void {
    this.#block = block;
    this.at = 0;
  }

  /** Forgets the block. */
  end(): void {
    this.#block = Buffer.alloc(0);
  }

  get isAtEnd(): boolean {
    return this.at >= this.#block.length;
  }

  /** The next byte, which is not consumed. */
  get nextByte(): number {
    return this.#block[this.at] ?? 0;
  }

  /** Reads an integer whose first byte has this mask (RFC 7541 section 5.1). */
  integer(mask: number): number {
    let value = this.#byte() & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= MAX_INTEGER_SHIFT; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new HpackError('an integer is too large');
  }

  #byte(): number {
    const byte = this.#block[this.at];
    if (byte === undefined) throw new HpackError('the field block is incomplete');
    this.at += 1;
    return byte;
  }

  /** Reads a string (RFC 7541 section 5.2). */
  string(): void {
    const isHuffman = (this.nextByte & 0x80) !== 0;
    const end = this.integer(0x7f) + this.at;
    if (end > this.#block.length) throw new HpackError('a string is incomplete');
    this.length = 0;
    this.laterCharacters = 0;
    this.firstByte = 0;
    this.lastByte = 0;
    this.lastFourBytes = 0;
    if (isHuffman) this.#huffman(end);
    else this.#plain(end);
    this.at = end;
  }

  #plain(end: number): void {
    const block = this.#block;
    const start = this.at;
    this.length = end - start;
    if (this.length === 0) return;
    let characters = 0;
    for (let at = start + 1; at < end; at += 1) characters |= CHARACTER[block[at] ?? 0] ?? 0;
    this.laterCharacters = characters;
    this.firstByte = block[start] ?? 0;
    this.lastByte = block[end - 1] ?? 0;
    if (this.length === 4) this.lastFourBytes = block.readInt32BE(start);
  }

  #huffman(end: number): void {
    const block = this.#block;
    let node = 0;
    let length = 0;
    let characters = 0;
    let first = 0;
    let last = 0;
    for (let at = this.at * 2; at < end * 2; at += 1) {
      const byte = block[at >> 1] ?? 0;
      const step = node * 16 + ((at & 1) === 0 ? byte >> 4 : byte & 0xf);
      node = NEXT_NODE[step] ?? 0;
      const symbol = SYMBOL[step] ?? NO_SYMBOL;
      if (symbol === NO_SYMBOL) continue;
      if (symbol === INVALID_SYMBOL) throw new HpackError('a string contains its end');
      if (length === 0) first = symbol;
      else characters |= CHARACTER[symbol] ?? 0;
      last = (last << 8) | symbol;
      length += 1;
    }
    if (MAY_END[node] !== 1) throw new HpackError('a string has invalid padding');
    this.length = length;
    this.laterCharacters = characters;
    this.firstByte = first;
    this.lastByte = last & 0xff;
    this.lastFourBytes = last;
  }
}
