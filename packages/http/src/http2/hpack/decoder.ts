import { ERROR, FIELD_BYTES } from '../protocol.ts';
import { fieldName, KIND, kindOfValue, type FieldKind, type FieldName } from './field-kinds.ts';
import { FieldTable, type Field } from './field-table.ts';
import { decodeHuffman } from './huffman.ts';

/** Takes the fields of a block in their order. */
export interface FieldSink {
  /** @param bytes its size, as RFC 9113 section 6.5.2 counts it */
  field(kind: FieldKind, name: string, value: string, bytes: number): void;
}

/** The most that one block may hold. A peer that sends more would only keep the decoder busy. */
export interface BlockLimits {
  /** The size of all fields, decoded, as RFC 9113 section 6.5.2 counts it. */
  readonly maxListBytes: number;
  readonly maxFields: number;
}

/** The largest shift of a byte of an integer: five bytes after the prefix would exceed 2^28. */
const MAX_INTEGER_SHIFT = 21;
/** Stands for an integer or an index that cannot be read. */
const INVALID = -1;

const DYNAMIC_INDEXED = 0x40;
const INDEXED = 0x80;
const RESIZE = 0x20;

/** Holds one decoded string at a time; at most doubled by each byte of the code. */
let scratch = Buffer.allocUnsafeSlow(16 * 1024);

/** The decoder of one direction of a connection (RFC 7541). It must read every block, also of streams that are refused. */
export class Decoder {
  readonly #table = new FieldTable();
  readonly #limits: BlockLimits;
  #block: Buffer = scratch;
  #at = 0;
  #end = 0;
  /** The last string: where its bytes are, decoded. */
  #text: Buffer = scratch;
  #textStart = 0;
  #textEnd = 0;

  constructor(limits: BlockLimits) {
    this.#limits = limits;
  }

  /**
   * Decodes a whole block, `block[start]` to `block[end - 1]`. It stops within a block that exceeds a limit.
   *
   * @returns the error of the connection, or NO_ERROR
   */
  decode(block: Buffer, start: number, end: number, sink: FieldSink): number {
    this.#block = block;
    this.#at = start;
    this.#end = end;
    const error = this.#fields(sink);
    this.#block = this.#text = scratch;
    return error;
  }

  #fields(sink: FieldSink): number {
    const { maxListBytes, maxFields } = this.#limits;
    let listBytes = 0;
    let fields = 0;
    while (this.#at < this.#end) {
      const first = this.#block[this.#at] ?? 0;
      let field: Field | undefined;
      if (first >= INDEXED) field = this.#table.get(this.#integer(0x7f));
      else if (first >= DYNAMIC_INDEXED) {
        field = this.#literal(0x3f);
        if (field !== undefined) this.#table.add(field);
      } else if (first >= RESIZE) {
        // RFC 7541 section 4.2: only at the start of a block.
        if (fields > 0 || !this.#resize()) return ERROR.compressionError;
        continue;
      } else field = this.#literal(0x0f);
      if (field === undefined) return ERROR.compressionError;
      listBytes += field.bytes;
      fields += 1;
      if (listBytes > maxListBytes || fields > maxFields) return ERROR.enhanceYourCalm;
      sink.field(field.kind, field.name.name, field.value, field.bytes);
    }
    return ERROR.noError;
  }

  #resize(): boolean {
    const bytes = this.#integer(0x1f);
    return bytes !== INVALID && this.#table.resize(bytes);
  }

  /** A literal field whose index has this mask (RFC 7541 section 6.2). */
  #literal(mask: number): Field | undefined {
    const index = this.#integer(mask);
    const name = index === 0 ? this.#name() : this.#table.get(index)?.name;
    if (name === undefined || !this.#string()) return undefined;
    const text = this.#text;
    const start = this.#textStart;
    const end = this.#textEnd;
    const kind = name.kind === KIND.invalid ? KIND.invalid : kindOfValue(name, text, start, end);
    const bytes = name.name.length + (end - start) + FIELD_BYTES;
    return { name, value: text.toString('latin1', start, end), kind, bytes };
  }

  #name(): FieldName | undefined {
    if (!this.#string()) return undefined;
    return fieldName(this.#text.toString('latin1', this.#textStart, this.#textEnd));
  }

  /** Reads an integer (RFC 7541 section 5.1). */
  #integer(mask: number): number {
    const block = this.#block;
    let value = (block[this.#at] ?? 0) & mask;
    this.#at += 1;
    if (value < mask) return value;
    for (let shift = 0; shift <= MAX_INTEGER_SHIFT; shift += 7) {
      if (this.#at >= this.#end) return INVALID;
      const byte = block[this.#at] ?? 0;
      this.#at += 1;
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return INVALID;
  }

  /** Reads a string (RFC 7541 section 5.2). Returns false if it is invalid. */
  #string(): boolean {
    if (this.#at >= this.#end) return false;
    const isHuffman = (this.#block[this.#at] ?? 0) >= 0x80;
    const length = this.#integer(0x7f);
    const start = this.#at;
    const end = start + length;
    if (length === INVALID || end > this.#end) return false;
    this.#at = end;
    if (!isHuffman) {
      this.#text = this.#block;
      this.#textStart = start;
      this.#textEnd = end;
      return true;
    }
    if (scratch.length < 2 * length) scratch = Buffer.allocUnsafeSlow(2 * length);
    this.#text = scratch;
    this.#textStart = 0;
    this.#textEnd = decodeHuffman(this.#block, start, end, scratch);
    return this.#textEnd !== INVALID;
  }
}
