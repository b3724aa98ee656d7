import { Socket } from 'node:net';

/**
 * A TCP connection that reads what has arrived before it ends after a failed write, also if it is paused meanwhile. A
 * server that responds before it has read the whole body, and closes, makes the next write fail (RFC 9112 section 9.6).
 * Node would then drop the response unread.
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

  /** Destroys it after a turn of the event loop in which it was not paused and received nothing more. */
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
