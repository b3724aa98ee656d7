import { FIELD_BYTES, MAX_TABLE_BYTES } from '../protocol.ts';
import { fieldName, kindOfValue, type FieldKind, type FieldName } from './field-kinds.ts';
import { STATIC_TABLE } from './static-table.ts';

/** A decoded field. */
export interface Field {
  readonly name: FieldName;
  readonly value: string;
  readonly kind: FieldKind;
  /** As RFC 7541 section 4.1 counts it. */
  readonly bytes: number;
}

const STATIC_FIELDS = STATIC_TABLE.map(([text, value]): Field => {
  const name = fieldName(text);
  const kind = kindOfValue(name, Buffer.from(value), 0, value.length);
  return { name, value, kind, bytes: text.length + value.length + FIELD_BYTES };
});
export const STATIC_COUNT = STATIC_FIELDS.length;

/** A power of two, and no less than the number of entries that fit. */
const SLOTS = MAX_TABLE_BYTES / FIELD_BYTES;
const SLOT_MASK = SLOTS - 1;

/** The static and the dynamic table of a decoder (RFC 7541 section 2.3). */
export class FieldTable {
  /** A ring. It grows with use, because an idle connection should need little memory. */
  readonly #slots: (Field | undefined)[] = [];
  /** How many entries were added, and how many of them are left. */
  #added = 0;
  #count = 0;
  #bytes = 0;
  #maxBytes = MAX_TABLE_BYTES;

  /** The field with an index (RFC 7541 section 2.3.3), or undefined if there is none. */
  get(index: number): Field | undefined {
    if (index <= STATIC_COUNT) return STATIC_FIELDS[index - 1];
    const age = index - STATIC_COUNT - 1;
    return age < this.#count ? this.#slots[(this.#added - 1 - age) & SLOT_MASK] : undefined;
  }

  /** Adds a field (RFC 7541 section 4.4). One that is larger than the table empties it. */
  add(field: Field): void {
    this.#evict(this.#maxBytes - field.bytes);
    if (field.bytes > this.#maxBytes) return;
    this.#slots[this.#added & SLOT_MASK] = field;
    this.#added += 1;
    this.#count += 1;
    this.#bytes += field.bytes;
  }

  /** Changes the size (RFC 7541 section 6.3). Returns false if that is larger than allowed. */
  resize(maxBytes: number): boolean {
    if (maxBytes > MAX_TABLE_BYTES) return false;
    this.#maxBytes = maxBytes;
    this.#evict(maxBytes);
    return true;
  }

  #evict(maxBytes: number): void {
    while (this.#count > 0 && this.#bytes > maxBytes) {
      const oldest = (this.#added - this.#count) & SLOT_MASK;
      this.#bytes -= this.#slots[oldest]?.bytes ?? 0;
      this.#slots[oldest] = undefined;
      this.#count -= 1;
    }
  }
}
