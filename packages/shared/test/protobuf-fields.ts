/** The fields of a message in protobuf by their numbers; a field may be repeated. */
export type Fields = ReadonlyMap<number, readonly Field[]>;

/** A number of variable length, or the bytes of a number of fixed length, a text or a message. */
type Field = bigint | Buffer;

const LENGTHS: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

/**
 * Reads the fields of a message (protobuf.dev/programming-guides/encoding), without the definition of their types.
 *
 * @throws if the bytes are not a message
 */
export function readFields(bytes: Buffer): Fields {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const type = tag & 7;
    let field: Field;
    if (type === 0) field = varint();
    else {
      const length = type === 2 ? Number(varint()) : LENGTHS[type];
      if (length === undefined || at + length > bytes.length) throw new Error('no protobuf');
      field = bytes.subarray(at, (at += length));
    }
    const number = tag >> 3;
    fields.set(number, [...(fields.get(number) ?? []), field]);
  }
  return fields;
}

/** The bytes of each field with this number that has some. */
export const bytesOf = (fields: Fields, number: number): readonly Buffer[] =>
  (fields.get(number) ?? []).filter((field) => typeof field !== 'bigint');

/** The messages of a repeated field. */
export const messagesOf = (fields: Fields, number: number): readonly Fields[] =>
  bytesOf(fields, number).map(readFields);

/** Empty if the field is absent. */
export const textOf = (fields: Fields, number: number, encoding: 'utf8' | 'hex' = 'utf8') =>
  bytesOf(fields, number).at(-1)?.toString(encoding) ?? '';

/** 0 if the field is absent. */
export const integerOf = (fields: Fields, number: number): number =>
  Number(fields.get(number)?.at(-1) ?? 0n);

/** All numbers of eight bytes of a field, packed or not. */
export const fixedOf = (
  fields: Fields,
  number: number,
  read: (bytes: Buffer, at: number) => number,
): readonly number[] =>
  bytesOf(fields, number).flatMap((bytes) =>
    Array.from({ length: bytes.length / 8 }, (_, index) => read(bytes, index * 8)),
  );

export const asDouble = (bytes: Buffer, at: number): number => bytes.readDoubleLE(at);
export const asInteger = (bytes: Buffer, at: number): number => Number(bytes.readBigInt64LE(at));
