import {
  CHARACTER,
  INVALID_IN_AUTHORITY,
  INVALID_IN_NAME,
  INVALID_IN_VALUE,
  isSpace,
} from './characters.ts';
import { FieldTable, type FieldName } from './field-table.ts';
import { HpackError } from './hpack-error.ts';
import { StringReader } from './string-reader.ts';

const COLON = 0x3a;
const HOST = Buffer.from('host').readInt32BE();

/**
 * Reads the field blocks of one direction of a connection, in their order, and tells which of them have an invalid field
 * (RFC 9113 section 8.2.1). The state is that of any decoder, because an entry of the table may be used by later blocks.
 */
export class FieldBlocks {
  readonly #table = new FieldTable();
  readonly #reader = new StringReader();

  /**
   * Whether a block has an invalid field: a name that is no token in lower case, a value with control characters or with
   * space at its start or end, a Host with characters that no authority has.
   *
   * @throws HpackError if it cannot be decoded; later blocks cannot be decoded either
   */
  hasInvalidField(block: Buffer): boolean {
    const reader = this.#reader;
    reader.start(block);
    let found = false;
    let isFirst = true;
    while (!reader.isAtEnd) {
      const byte = reader.nextByte;
      if (byte >= 0x80) {
        if (this.#table.isInvalidAt(reader.integer(0x7f))) found = true;
      } else if (byte >= 0x40) {
        if (this.#literal(0x3f, true)) found = true;
      } else if (byte >= 0x20) {
        if (!isFirst) throw new HpackError('the size of the table changes within a block');
        this.#table.resize(reader.integer(0x1f));
        continue;
      } else if (this.#literal(0x0f, false)) found = true;
      isFirst = false;
    }
    reader.end();
    return found;
  }

  #literal(mask: number, isIndexed: boolean): boolean {
    const reader = this.#reader;
    const index = reader.integer(mask);
    const name = index === 0 ? this.#name() : this.#table.nameAt(index);
    reader.string();
    const isInvalid = name.isInvalid || this.#isInvalidValue(name.isHost);
    if (isIndexed) this.#table.add(name, reader.length, isInvalid);
    return isInvalid;
  }

  #name(): FieldName {
    const reader = this.#reader;
    reader.string();
    const { length, firstByte } = reader;
    // A colon starts the name of a pseudo-header field; node:http2 refuses unknown ones.
    const first = firstByte === COLON ? 0 : (CHARACTER[firstByte] ?? 0);
    const isInvalid = length === 0 || ((first | reader.laterCharacters) & INVALID_IN_NAME) !== 0;
    return { length, isInvalid, isHost: length === 4 && reader.lastFourBytes === HOST };
  }

  #isInvalidValue(isHost: boolean): boolean {
    const { length, firstByte, lastByte, laterCharacters } = this.#reader;
    if (length === 0) return false;
    const characters = (CHARACTER[firstByte] ?? 0) | laterCharacters;
    const invalid = isHost ? INVALID_IN_VALUE | INVALID_IN_AUTHORITY : INVALID_IN_VALUE;
    return (characters & invalid) !== 0 || isSpace(firstByte) || isSpace(lastByte);
  }
}
