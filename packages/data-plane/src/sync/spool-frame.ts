import { crc32 } from 'node:zlib';
import type { RecordBatch } from './record-batcher.ts';

/**
 * A batch in a spool file, numbers big-endian:
 * bytes after the head (4), CRC-32 of them (4) | records (4), length of the id (1), id, body.
 */
const HEAD_BYTES = 8;
const FIXED_BYTES = 5;
/** Above any batch; what claims more is damage. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;

export function encodeFrame(batch: RecordBatch): Buffer {
  const id = Buffer.from(batch.id, 'latin1');
  const frame = Buffer.allocUnsafe(HEAD_BYTES + FIXED_BYTES + id.length + batch.body.length);
  frame.writeUInt32BE(frame.length - HEAD_BYTES, 0);
  frame.writeUInt32BE(batch.records, HEAD_BYTES);
  frame.writeUInt8(id.length, HEAD_BYTES + 4);
  id.copy(frame, HEAD_BYTES + FIXED_BYTES);
  frame.set(batch.body, HEAD_BYTES + FIXED_BYTES + id.length);
  frame.writeUInt32BE(crc32(frame.subarray(HEAD_BYTES)), 4);
  return frame;
}

/**
 * The whole batches at the beginning of a file. A crash leaves the last one torn, a bad disk may
 * damage any; what follows such a place is not read, as nothing says where the next one begins.
 */
export function decodeFrames(file: Buffer): {
  readonly batches: readonly RecordBatch[];
  /** Where the whole ones end. */
  readonly wholeBytes: number;
} {
  const batches: RecordBatch[] = [];
  let start = 0;
  for (;;) {
    if (file.length - start < HEAD_BYTES) break;
    const length = file.readUInt32BE(start);
    const end = start + HEAD_BYTES + length;
    if (length < FIXED_BYTES || length > MAX_FRAME_BYTES || end > file.length) break;
    const content = file.subarray(start + HEAD_BYTES, end);
    if (crc32(content) !== file.readUInt32BE(start + 4)) break;
    const bodyStart = FIXED_BYTES + content.readUInt8(4);
    if (bodyStart > content.length) break;
    batches.push({
      id: content.toString('latin1', FIXED_BYTES, bodyStart),
      body: content.subarray(bodyStart),
      records: content.readUInt32BE(0),
    });
    start = end;
  }
  return { batches, wholeBytes: start };
}
