/*
 * The two messages of grpc.health.v1 (https://github.com/grpc/grpc/blob/master/doc/health-checking.md), written and read by
 * hand: one field each is no reason for a library.
 */

/** Before each message: whether it is compressed, and its length in four bytes. */
const PREFIX_BYTES = 5;
/** Field 1, length-delimited. */
const SERVICE_TAG = 0x0a;
/** Field 1, varint. */
const STATUS_TAG = 0x08;

/** What a server says of a service, by its number. */
const SERVING_STATUSES = ['unknown', 'serving', 'not_serving', 'service_unknown'] as const;

export type ServingStatus = (typeof SERVING_STATUSES)[number];

/**
 * A HealthCheckRequest with its prefix.
 *
 * @param service at most 256 characters of ASCII; empty: the server as a whole
 */
export function healthRequest(service: string): Buffer {
  const name = Buffer.from(service, 'latin1');
  const field = name.length === 0 ? [] : [SERVICE_TAG, ...varint(name.length)];
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(field.length + name.length, 1);
  return Buffer.concat([prefix, Buffer.from(field), name]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, value >>> 7];
}

/**
 * Reads the body of a response: one HealthCheckResponse with its prefix.
 *
 * @returns undefined if it is anything else, also a compressed or an unknown one
 */
export function servingStatusOf(body: Buffer): ServingStatus | undefined {
  if (body.length < PREFIX_BYTES || body[0] !== 0) return undefined;
  const message = body.subarray(PREFIX_BYTES);
  if (message.length !== body.readUInt32BE(1)) return undefined;
  // A field with the default of its type is left out.
  if (message.length === 0) return SERVING_STATUSES[0];
  const [tag, value = 0xff] = message;
  return message.length === 2 && tag === STATUS_TAG ? SERVING_STATUSES[value] : undefined;
}
