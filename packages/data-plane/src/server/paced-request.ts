import { IncomingMessage } from 'node:http';
import { KeptBytes } from './kept-bytes.ts';

/** A chunk below this is small: handling it costs more than its bytes. */
const SMALL_BYTES = 512;
/** So many small chunks of one turn of the event loop pass as they are; the others are joined. */
const PASSED_AT_ONCE = 16;
/** So many small chunks of one turn, and the connection is read on only after a rest. */
const MAX_AT_ONCE = 1024;
const REST_MS = 250;
/** What is read of a body that nobody wants any more, and the rest after it: 4 MiB a second. */
const UNWANTED_BYTES = 256 * 1024;
const UNWANTED_REST_MS = 64;

/**
 * A request whose body cannot keep the process busy out of proportion. A body in chunks of one byte has
 * ten thousand of them in one read, each an object and an event, and node:http reads on at once for as
 * long as more has arrived: one such caller would hold up all others for seconds. So small chunks are
 * joined, and their connection rests; so does one whose body is only read to be dropped.
 */
export class PacedRequest extends IncomingMessage {
  #small = 0;
  #joined: KeptBytes | undefined = undefined;
  #unwanted = false;
  #unwantedBytes = 0;
  #resting = false;

  /** Nobody wants the rest of the body: it is read slowly from here on. */
  dropSlowly(): void {
    this.#unwanted = true;
  }

  /** Called by node:http with each chunk, and with null at the end; false stops the reading. */
  override push(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.#passOn();
      return super.push(null);
    }
    if (this.#unwanted && (this.#unwantedBytes += chunk.length) > UNWANTED_BYTES) {
      this.#unwantedBytes = 0;
      this.#rest(UNWANTED_REST_MS);
    }
    if (chunk.length >= SMALL_BYTES) {
      this.#passOn();
      return super.push(chunk) && !this.#resting;
    }
    this.#small += 1;
    if (this.#small <= PASSED_AT_ONCE) return super.push(chunk) && !this.#resting;
    if (this.#joined === undefined) {
      this.#joined = new KeptBytes();
      setImmediate(() => {
        if (this.#small < MAX_AT_ONCE) this.#small = 0;
        if (!this.#passOn()) this.socket.pause();
      });
    }
    this.#joined.add(chunk);
    if (this.#small === MAX_AT_ONCE) this.#rest(REST_MS);
    return !this.#resting;
  }

  override _read(size: number): void {
    // It would read on.
    if (!this.#resting) super._read(size);
  }

  /** Gives false where the reader has enough for now. */
  #passOn(): boolean {
    const joined = this.#joined;
    this.#joined = undefined;
    if (joined === undefined || this.destroyed || this.readableEnded) return true;
    return super.push(joined.whole());
  }

  #rest(ms: number): void {
    if (this.#resting) return;
    this.#resting = true;
    setTimeout(() => {
      this.#resting = false;
      this.#small = 0;
      // After its end the connection is the next request's; where enough waits, the reader asks for more.
      const enough = this.readableLength >= this.readableHighWaterMark;
      if (!this.complete && !this.destroyed && !enough) super._read(0);
    }, ms).unref();
  }
}
