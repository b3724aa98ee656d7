const FIELD = 0x0a;

/** Encodes a `google.protobuf.BytesValue`: one field of bytes, left out if it is empty. */
export function encodeBytes(value: Uint8Array): Buffer {
  if (value.length === 0) return Buffer.alloc(0);
  const length: number[] = [];
  let rest = value.length;
  for (; rest > 0x7f; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
  length.push(rest);
  return Buffer.concat([Buffer.from([FIELD, ...length]), value]);
}

/** Decodes a `google.protobuf.BytesValue` without unknown fields. */
export function decodeBytes(message: Uint8Array): Buffer {
  if (message.length === 0) return Buffer.alloc(0);
  let at = 1;
  while ((message[at] ?? 0) > 0x7f) at += 1;
  return Buffer.from(message.subarray(at + 1));
}
