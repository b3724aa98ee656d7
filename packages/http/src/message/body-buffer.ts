import { toStayValid } from './read-buffer.ts';

/** A chunk of at least this size is kept unchanged; smaller ones are copied together. */
const LARGE_BYTES = 4 * 1024;
const PAGE_BYTES = 16 * 1024;
const NO_PAGE = Buffer.alloc(0);

/**
 * Collects a body, or the start of a head or frame that is incomplete. It needs about as much memory as it has bytes,
 * however small the chunks are. A list of chunks could need hundreds of times as much, because Node creates an object of
 * about 400 bytes for every read. Chunks that the next read would overwrite are copied.
 */
export class BodyBuffer {
  #parts: Buffer[] = [];
  /** The only chunk so far. Nearly all bodies arrive in one chunk, which is not copied. */
  #first: Buffer | undefined = undefined;
  #page = NO_PAGE;
  #from = 0;
  #used = 0;

  add(chunk: Buffer): void {
    if (this.#first === undefined && this.#parts.length === 0 && this.#used === 0) {
      this.#first = toStayValid(chunk);
      return;
    }
    if (this.#first !== undefined) {
      this.#append(this.#first);
      this.#first = undefined;
    }
    this.#append(chunk);
  }

  /** Everything so far, in the buffers that hold it. Nothing may be added afterwards. */
  parts(): readonly Buffer[] {
    if (this.#first !== undefined) return [this.#first];
    this.#endView();
    return this.#parts;
  }

  /** Everything so far in one buffer. Nothing may be added afterwards. */
  whole(): Buffer {
    const parts = this.parts();
    const [only] = parts;
    return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts);
  }

  #append(chunk: Buffer): void {
    if (chunk.length >= LARGE_BYTES) {
      this.#endView();
      this.#parts.push(toStayValid(chunk));
      return;
    }
    if (this.#page.length - this.#used < chunk.length) {
      this.#endView();
      this.#page = Buffer.allocUnsafeSlow(PAGE_BYTES);
      this.#from = this.#used = 0;
    }
    this.#used += chunk.copy(this.#page, this.#used);
  }

  #endView(): void {
    if (this.#used > this.#from) this.#parts.push(this.#page.subarray(this.#from, this.#used));
    this.#from = this.#used;
  }
}
