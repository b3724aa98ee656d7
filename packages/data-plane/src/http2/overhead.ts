/** The overhead that an HTTP/2 connection may receive before it counts as a flood. */
const MAX_OVERHEAD_BYTES = 256 * 1024;
/** Overhead that is allowed in each second: pings, settings, and the frames of a body in very small parts. */
const ALLOWED_BYTES_PER_SECOND = 64 * 1024;
/** Bytes that are allowed for each byte of a head or body, including itself, because frames have heads and padding. */
const BYTES_PER_USEFUL_BYTE = 4;
/** One byte is allowed for this many sent bytes, because a caller that receives data sends WINDOW_UPDATE frames. */
const SENT_BYTES_PER_BYTE = 8;

/** All bytes that a connection has received and sent since it was opened. */
export interface ConnectionBytes {
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/**
 * Detects a caller that keeps the process busy with frames that are not part of a request: pings, settings, window
 * updates, priorities, unknown frames, padding, frames of closed streams, refused fields. node:http2 handles them below
 * JavaScript, and most of them without a limit. nginx detects floods in the same way.
 */
export class Overhead {
  #usefulBytes = 0;
  #readBytes = 0;
  #writtenBytes = 0;
  #overheadBytes = 0;
  #checkedMs: number;

  constructor(nowMs: number) {
    this.#checkedMs = nowMs;
  }

  /** Bytes of a head or a body have arrived. */
  useful(bytes: number): void {
    this.#usefulBytes += bytes;
  }

  /** Whether the connection is flooded, with the bytes since the last call. */
  isFlood({ bytesRead, bytesWritten }: ConnectionBytes, nowMs: number): boolean {
    const allowedOverTime = ((nowMs - this.#checkedMs) / 1000) * ALLOWED_BYTES_PER_SECOND;
    const received = bytesRead - this.#readBytes;
    const sent = bytesWritten - this.#writtenBytes;
    const allowed =
      this.#usefulBytes * BYTES_PER_USEFUL_BYTE + sent / SENT_BYTES_PER_BYTE + allowedOverTime;
    this.#overheadBytes = Math.max(0, this.#overheadBytes + received - allowed);
    this.#usefulBytes = 0;
    this.#readBytes = bytesRead;
    this.#writtenBytes = bytesWritten;
    this.#checkedMs = nowMs;
    return this.#overheadBytes > MAX_OVERHEAD_BYTES;
  }
}
