import { crc32 } from 'node:zlib';
import type { RecordBatch } from './record-batcher.ts';

/*
 * A batch in a spool file, with big-endian numbers:
 * number of bytes after the head (4), CRC-32 of them (4) | records (4), length of the id (1), id, body.
 */
const HEAD_BYTES = 8;
const FIXED_BYTES = 5;
/** Larger than any batch. A frame with a greater length is damaged. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;

/** The stored form of a batch. */
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

/** The content of a spool file. */
export interface DecodedFrames {
  readonly batches: readonly RecordBatch[];
  /** Bytes after the last complete batch, left by a crash. */
  readonly tornBytes: number;
  /** Invalid bytes before a complete batch, left by a bad disk. */
  readonly damagedBytes: number;
}

/**
 * Decodes the complete batches of a file. A crash leaves the last one incomplete. A bad disk may damage any; then the next
 * valid frame is searched for, so that no other batch is lost.
 */
export function decodeFrames(file: Buffer): DecodedFrames {
  const batches: RecordBatch[] = [];
  let damagedBytes = 0;
  let start = 0;
  for (;;) {
    const frame = nextFrame(file, start);
    if (frame === undefined) return { batches, damagedBytes, tornBytes: file.length - start };
    batches.push(frame.batch);
    damagedBytes += frame.start - start;
    start = frame.end;
  }
}

interface Frame {
  readonly start: number;
  readonly end: number;
  readonly batch: RecordBatch;
}

/** Finds the next valid frame. The first byte of a length is zero, which JSON never contains, so the search is fast. */
function nextFrame(file: Buffer, from: number): Frame | undefined {
  for (let start = from; start !== -1; start = file.indexOf(0, start + 1)) {
    const frame = frameAt(file, start);
    if (frame !== undefined) return frame;
  }
  return undefined;
}

function frameAt(file: Buffer, start: number): Frame | undefined {
  if (file.length - start < HEAD_BYTES) return undefined;
  const length = file.readUInt32BE(start);
  const end = start + HEAD_BYTES + length;
  if (length < FIXED_BYTES || length > MAX_FRAME_BYTES || end > file.length) return undefined;
  const content = file.subarray(start + HEAD_BYTES, end);
  if (crc32(content) !== file.readUInt32BE(start + 4)) return undefined;
  const bodyStart = FIXED_BYTES + content.readUInt8(4);
  if (bodyStart > content.length) return undefined;
  const id = content.toString('latin1', FIXED_BYTES, bodyStart);
  const body = content.subarray(bodyStart);
  return { start, end, batch: { id, body, records: content.readUInt32BE(0) } };
}
