/** The media type of gRPC. */
export const GRPC = 'application/grpc';
/** A flag and the length of the message. */
export const PREFIX_BYTES = 5;
/** The size of a message of a stream. */
export const MESSAGE_BYTES = 100;

/** A message as gRPC frames it, not compressed. */
export function message(content: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(content.length, 1);
  return Buffer.concat([prefix, content]);
}
