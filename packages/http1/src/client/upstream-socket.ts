import { Socket } from 'node:net';

/**
 * A TCP connection whose failed write does not yet end it: what arrived before is read first, and waits
 * while the reader has paused it. An upstream that answers before it took the whole body, and closes,
 * makes the next write fail (RFC 9112 section 9.6); Node alone would then drop the answer unread.
 */
export class UpstreamSocket extends Socket {
  #writeFailed = false;

  override destroy(error?: NodeJS.ErrnoException): this {
    if (error?.syscall !== 'write') return super.destroy(error);
    if (this.#writeFailed || this.destroyed) return this;
    this.#writeFailed = true;
    this.#readOut(error);
    return this;
  }

  /** Ends it after a turn of the event loop in which it was read and brought nothing more. */
  #readOut(error: Error): void {
    if (this.isPaused()) {
      this.once('resume', () => this.#readOut(error));
      return;
    }
    const before = this.bytesRead;
    // The first may come within this turn, whose events were gathered before the write failed.
    setImmediate(() =>
      setImmediate(() => {
        if (this.destroyed) return;
        if (this.isPaused() || this.bytesRead > before) this.#readOut(error);
        else super.destroy(error);
      }),
    );
  }
}
