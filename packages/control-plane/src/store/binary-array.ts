/**
 * Postgres arrays in the binary format, which the driver sends unchanged. In text format every quotation
 * mark of a JSON document is escaped and unescaped; for request records that was more work than everything
 * else this process does for them.
 *
 * Source of the format: `array_send` and `array_recv` of Postgres (src/backend/utils/adt/arrayfuncs.c):
 * number of dimensions, flag for NULLs, type of the elements, then length and lower bound of each
 * dimension; each element is its length (-1 for NULL) and its bytes. Numbers are big-endian.
 */

/** `pg_type.oid` of the built-in types, which never change. */
const TEXT = 25;
const FLOAT8 = 701;

const HEAD_BYTES = 20;
const LENGTH_BYTES = 4;
const FLOAT8_BYTES = 8;
const NULL_LENGTH = -1;

function startArray(bodyBytes: number, elementType: number, length: number): Buffer {
  const array = Buffer.allocUnsafe(HEAD_BYTES + bodyBytes);
  array.writeInt32BE(1, 0);
  // The flag for NULLs, which Postgres ignores.
  array.writeInt32BE(0, 4);
  array.writeInt32BE(elementType, 8);
  array.writeInt32BE(length, 12);
  array.writeInt32BE(1, 16);
  return array;
}

/** A `text[]`. */
export function textArray(values: readonly (string | null)[]): Buffer {
  let bytes = 0;
  for (const value of values) {
    bytes += LENGTH_BYTES + (value === null ? 0 : Buffer.byteLength(value));
  }
  const array = startArray(bytes, TEXT, values.length);
  let at = HEAD_BYTES;
  for (const value of values) {
    if (value === null) {
      at = array.writeInt32BE(NULL_LENGTH, at);
      continue;
    }
    const written = array.write(value, at + LENGTH_BYTES);
    array.writeInt32BE(written, at);
    at += LENGTH_BYTES + written;
  }
  return array;
}

/** A `float8[]`. */
export function float8Array(values: readonly (number | null)[]): Buffer {
  const nulls = values.filter((value) => value === null).length;
  const bytes = values.length * LENGTH_BYTES + (values.length - nulls) * FLOAT8_BYTES;
  const array = startArray(bytes, FLOAT8, values.length);
  let at = HEAD_BYTES;
  for (const value of values) {
    at = array.writeInt32BE(value === null ? NULL_LENGTH : FLOAT8_BYTES, at);
    if (value !== null) at = array.writeDoubleBE(value, at);
  }
  return array;
}
