/** What a connection of HTTP/2 may receive that is of no use, before it is a flood. */
const MAX_OVERHEAD_BYTES = 256 * 1024;
/** So much of it is forgiven in a second: pings, settings, and the frames of a body in very small parts. */
const FORGIVEN_BYTES_PER_SECOND = 64 * 1024;
/** Each byte of a head or a body may come with so many, itself included: frames have heads and padding. */
const BYTES_FOR_USEFUL = 4;
/** A caller of large responses sends frames that open its windows. */
const SENT_BYTES_FOR_ONE = 8;

/** The bytes of a connection: all that it received and sent since it began. */
export interface ConnectionBytes {
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/**
 * Tells a caller that keeps the process busy with frames that carry nothing: pings, settings, windows,
 * priorities, unknown frames, padding, frames of closed streams, fields that are refused. node:http2
 * handles them below JavaScript, at the speed of the line, and most without a limit; what they have in
 * common is that their bytes are no part of a request. (nginx tells a flood in the same way.)
 */
export class Overhead {
  #usefulBytes = 0;
  #readBytes = 0;
  #writtenBytes = 0;
  #overheadBytes = 0;
  #lookedMs: number;

  constructor(nowMs: number) {
    this.#lookedMs = nowMs;
  }

  /** Bytes of a head, or of a body, have arrived. */
  useful(bytes: number): void {
    this.#usefulBytes += bytes;
  }

  /** Whether what came since the last look was a flood. */
  isFlood({ bytesRead, bytesWritten }: ConnectionBytes, nowMs: number): boolean {
    const forgiven = ((nowMs - this.#lookedMs) / 1000) * FORGIVEN_BYTES_PER_SECOND;
    const received = bytesRead - this.#readBytes;
    const sent = bytesWritten - this.#writtenBytes;
    const explained = this.#usefulBytes * BYTES_FOR_USEFUL + sent / SENT_BYTES_FOR_ONE + forgiven;
    this.#overheadBytes = Math.max(0, this.#overheadBytes + received - explained);
    this.#usefulBytes = 0;
    this.#readBytes = bytesRead;
    this.#writtenBytes = bytesWritten;
    this.#lookedMs = nowMs;
    return this.#overheadBytes > MAX_OVERHEAD_BYTES;
  }
}
