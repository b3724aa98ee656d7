/** How a field is encoded, if it can be. */
export type Representation = 'field' | 'name' | 'added' | 'plain' | 'never';

/** A field with the way to encode it. */
export interface EncodedField {
  readonly name: string;
  readonly value: string;
  readonly as: Representation;
  /** A new size of the table, before the block of the field. */
  readonly resize?: number;
}

const STATIC_ENTRIES = 61;

/** An HPACK encoder that follows the tests: any field may be encoded in any way. Without Huffman codes. */
export class HpackEncoder {
  #entries: { readonly name: string; readonly value: string }[] = [];
  #maxBytes = 4096;

  /** Encodes a field, from the table if that is asked for and the table has it. */
  field({ name, value, as }: EncodedField): Buffer {
    const exact = this.#entries.findIndex((one) => one.name === name && one.value === value);
    if (as === 'field' && exact >= 0) return integer(0x80, 0x7f, exact + STATIC_ENTRIES + 1);
    const named = this.#entries.findIndex((one) => one.name === name);
    const index = as === 'name' && named >= 0 ? named + STATIC_ENTRIES + 1 : 0;
    const text = index === 0 ? [string(name), string(value)] : [string(value)];
    if (as === 'plain') return Buffer.concat([integer(0x00, 0x0f, index), ...text]);
    if (as === 'never') return Buffer.concat([integer(0x10, 0x0f, index), ...text]);
    this.#entries.unshift({ name, value });
    this.#evict();
    return Buffer.concat([integer(0x40, 0x3f, index), ...text]);
  }

  /** Changes the size of the table. */
  resize(bytes: number): Buffer {
    this.#maxBytes = bytes;
    this.#evict();
    return integer(0x20, 0x1f, bytes);
  }

  #evict(): void {
    const bytes = () =>
      this.#entries.reduce((sum, { name, value }) => sum + name.length + value.length + 32, 0);
    while (bytes() > this.#maxBytes) this.#entries.pop();
  }
}

function string(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([integer(0, 0x7f, bytes.length), bytes]);
}

function integer(kind: number, mask: number, value: number): Buffer {
  if (value < mask) return Buffer.from([kind | value]);
  const bytes = [kind | mask];
  let left = value - mask;
  for (; left >= 128; left >>= 7) bytes.push((left & 127) | 128);
  return Buffer.from([...bytes, left]);
}
