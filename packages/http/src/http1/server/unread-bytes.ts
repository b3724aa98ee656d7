import { isInReadBuffer } from '../../message/read-buffer.ts';

const EMPTY = Buffer.alloc(0);
const MIN_CAPACITY = 256;

/**
 * The bytes of a connection that have arrived and are not read yet, because the response before them was not sent. Each
 * byte is copied a constant number of times, even if they arrive one by one. Bytes that are read at once are not copied.
 */
export class UnreadBytes {
  /** The unread bytes. */
  #view: Buffer = EMPTY;
  /** The memory of the view if it was copied. More bytes can be added at `#end`. */
  #own: Buffer = EMPTY;
  #end = 0;

  get length(): number {
    return this.#view.length;
  }

  /** Everything unread, valid until more is added. */
  get view(): Buffer {
    return this.#view;
  }

  add(bytes: Buffer): void {
    if (this.#view.length === 0) {
      this.#own = EMPTY;
      this.#view = bytes;
      return;
    }
    if (this.#own.length - this.#end < bytes.length) this.#grow(bytes.length);
    const from = this.#end - this.#view.length;
    this.#end += bytes.copy(this.#own, this.#end);
    this.#view = this.#own.subarray(from, this.#end);
  }

  /** This many bytes were read. */
  skip(bytes: number): void {
    this.#view = bytes === this.#view.length ? EMPTY : this.#view.subarray(bytes);
    if (this.#view.length === 0) this.#own = EMPTY;
  }

  /** Copies the unread bytes if the next read would overwrite them. */
  keep(): void {
    if (isInReadBuffer(this.#view)) this.#grow(0);
  }

  clear(): void {
    this.#view = this.#own = EMPTY;
  }

  #grow(moreBytes: number): void {
    const { length } = this.#view;
    // Grows by half each time, so that all copies together take linear time.
    const capacity = moreBytes === 0 ? length : Math.ceil((length + moreBytes) * 1.5);
    this.#own = Buffer.allocUnsafeSlow(Math.max(MIN_CAPACITY, capacity));
    this.#end = this.#view.copy(this.#own);
    this.#view = this.#own.subarray(0, length);
  }
}
