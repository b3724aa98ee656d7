import { Socket } from 'node:net';

/**
 * A TCP connection that a failed write does not end at once: what arrived before is read first, and waits while the
 * reader has paused it. A server that answers before it took the whole body, and closes, makes the next write fail (RFC
 * 9112 section 9.6); Node alone would drop the answer unread.
 */
export class ClientSocket extends Socket {
  #writeFailed = false;

  override destroy(error?: NodeJS.ErrnoException): this {
    if (error?.syscall !== 'write') return super.destroy(error);
    if (this.#writeFailed || this.destroyed) return this;
    this.#writeFailed = true;
    this.#destroyWhenRead(error);
    return this;
  }

  /** Ends it after a turn of the event loop in which it was read and brought nothing more. */
  #destroyWhenRead(error: Error): void {
    if (this.isPaused()) {
      this.once('resume', () => this.#destroyWhenRead(error));
      return;
    }
    const before = this.bytesRead;
    // The first setImmediate may run within this turn, whose events were collected before the write failed.
    setImmediate(() =>
      setImmediate(() => {
        if (this.destroyed) return;
        if (this.isPaused() || this.bytesRead > before) this.#destroyWhenRead(error);
        else super.destroy(error);
      }),
    );
  }
}
