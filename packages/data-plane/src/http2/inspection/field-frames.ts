import { constants } from 'node:http2';
import {
  CONTINUATION,
  END_HEADERS,
  flagsAt,
  HEAD_BYTES,
  HEADERS,
  PADDED,
  streamAt,
  WITH_PRIORITY,
} from './frame-types.ts';
import { InspectionError } from './inspection-error.ts';

const PRIORITY_BYTES = 5;

/** A field that node:http2 refuses, without indexing: `connection: x`. */
const REFUSED_FIELD = Buffer.from('\x00\x0aconnection\x01x', 'latin1');

/** Whether frames of this type have fields. */
export function isFieldFrame(type: number): boolean {
  return type === HEADERS || type === CONTINUATION;
}

/**
 * The part of a field block in a HEADERS frame (RFC 9113 section 6.2).
 *
 * @throws InspectionError if its padding is too long
 */
export function fragmentOf(frame: Buffer): Buffer {
  const flags = flagsAt(frame, 0);
  const padding = (flags & PADDED) === 0 ? 0 : (frame[HEAD_BYTES] ?? 0);
  const start = priorityAt(flags) + ((flags & WITH_PRIORITY) === 0 ? 0 : PRIORITY_BYTES);
  const end = frame.length - padding;
  if (start > end) {
    throw new InspectionError('a frame has too much padding', constants.NGHTTP2_PROTOCOL_ERROR);
  }
  return frame.subarray(start, end);
}

function priorityAt(flags: number): number {
  return HEAD_BYTES + ((flags & PADDED) === 0 ? 0 : 1);
}

/**
 * Whether a HEADERS frame says that its stream depends on itself (RFC 7540 section 5.3.1), which ends the connection in
 * node:http2. If so it depends on no stream afterwards.
 */
export function removeOwnDependency(frame: Buffer): boolean {
  const flags = flagsAt(frame, 0);
  if ((flags & WITH_PRIORITY) === 0) return false;
  const at = priorityAt(flags);
  if ((frame.readUInt32BE(at) & 0x7fffffff) !== streamAt(frame, 0)) return false;
  frame.writeUInt32BE(0, at);
  return true;
}

/** A frame that completes the field block of another one with a field that node:http2 refuses. */
export function refusedContinuation(frame: Buffer): Buffer {
  const head = Buffer.from(frame.subarray(0, HEAD_BYTES));
  head.writeUIntBE(REFUSED_FIELD.length, 0, 3);
  head[3] = CONTINUATION;
  head[4] = END_HEADERS;
  return Buffer.concat([head, REFUSED_FIELD]);
}
