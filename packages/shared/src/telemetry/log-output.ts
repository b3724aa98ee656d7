import { write, writeSync } from 'node:fs';

/** A block is written when it is full, or after this time. */
const BLOCK_BYTES = 256 * 1024;
const FLUSH_MS = 200;
/** Limit of the bytes that wait for a slow reader or for space on a disk. Beyond it lines are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Delay of a retry while the reader does not read, or after a failure. */
const RETRY_MS = 100;
/** How long a reader that does not read may delay the exit of the process. */
const MAX_SYNC_TRIES = 20;
const SYNC_RETRY_MS = 10;
const NEWLINE = '\n';
/** The most bytes that UTF-8 needs for a UTF-16 code unit. */
const MAX_BYTES_PER_CHAR = 3;

/**
 * Writes lines to a file descriptor in blocks. A failed write, as on a full disk, is retried, and the memory for waiting lines is limited; it
 * neither ends the process nor prevents its exit. (pino's own destination ends a process that does not handle its errors, and
 * its last write never returns on a full disk.)
 */
export class LogOutput {
  readonly #fd: number;
  readonly #maxWaitingBytes: number;
  /** Failed writes. Each is retried as long as the process runs. */
  failedWrites = 0;
  /** Lines that were dropped. */
  droppedLines = 0;
  /** New lines are encoded into this block at once; kept as strings they would be many small objects until the next write. */
  #block: Buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #used = 0;
  /** Earlier blocks, oldest first. The first one may be in the middle of a write. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** A written block, for reuse. */
  #spare: Buffer | undefined = undefined;
  #writing = false;
  #failed = false;
  #timer: NodeJS.Timeout | undefined = undefined;
  #watchesExit = false;

  /** The descriptor must stay open while lines wait; otherwise its number could be reused for another file. */
  constructor(fd: number, maxWaitingBytes = MAX_WAITING_BYTES) {
    this.#fd = fd;
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  /** @param lines one or more whole lines */
  write(lines: string): void {
    this.#flushAtExit();
    if (this.#waitingBytes >= this.#maxWaitingBytes) {
      this.droppedLines += lines.split(NEWLINE).length - 1;
      return;
    }
    // The exact length is computed only if the longest possible encoding might not fit.
    if (this.#used + lines.length * MAX_BYTES_PER_CHAR > BLOCK_BYTES) this.#makeRoom(lines);
    else this.#used += this.#block.write(lines, this.#used);
    if (this.#waiting.length > 0) this.#writeNext();
    else this.#writeLater(FLUSH_MS);
  }

  /**
   * Writes as much as possible of what waits before it returns; the rest keeps waiting. If a block is being written at the same time, its
   * unwritten rest follows later.
   */
  flushSync(): void {
    this.#closeBlock();
    const onTheirWay = this.#writing ? 1 : 0;
    const waiting = Buffer.concat(this.#waiting.splice(onTheirWay));
    const rest = this.#writeSync(waiting);
    this.#waitingBytes -= waiting.length - rest.length;
    if (rest.length === 0) return;
    this.#waiting.push(rest);
    this.#writeLater(RETRY_MS);
  }

  /** Returns the bytes that were not written. */
  #writeSync(all: Buffer): Buffer {
    let bytes = all;
    for (let tries = 0; bytes.length > 0 && tries < MAX_SYNC_TRIES;) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
      } catch (error) {
        if (!isBusy(error)) {
          this.failedWrites += 1;
          return bytes;
        }
        tries += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SYNC_RETRY_MS);
      }
    }
    return bytes;
  }

  flush(done?: () => void): void {
    this.flushSync();
    done?.();
  }

  #makeRoom(lines: string): void {
    const bytes = Buffer.byteLength(lines);
    if (this.#used + bytes > BLOCK_BYTES) this.#closeBlock();
    if (bytes > BLOCK_BYTES) this.#wait(Buffer.from(lines));
    else this.#used += this.#block.write(lines, this.#used);
  }

  #closeBlock(): void {
    if (this.#used === 0) return;
    this.#wait(this.#block.subarray(0, this.#used));
    this.#block = this.#spare ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#spare = undefined;
    this.#used = 0;
  }

  #wait(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #writeLater(delayMs: number): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#failed = false;
      this.#writeNext();
    }, delayMs).unref();
  }

  #flushAtExit(): void {
    if (this.#watchesExit) return;
    this.#watchesExit = true;
    process.once('exit', () => {
      this.flushSync();
    });
  }

  #writeNext(): void {
    // After a failure, wait for the timer of the retry.
    if (this.#writing || this.#failed) return;
    if (this.#waiting.length === 0) this.#closeBlock();
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#writing = true;
    write(this.#fd, next, (error, written) => {
      this.#writing = false;
      if (error === null) this.#written(next, written);
      else this.#fail(error);
    });
  }

  #written(bytes: Buffer, count: number): void {
    this.#waitingBytes -= count;
    if (count < bytes.length) this.#waiting[0] = bytes.subarray(count);
    else {
      this.#waiting.shift();
      if (bytes.buffer.byteLength === BLOCK_BYTES) this.#spare = Buffer.from(bytes.buffer);
    }
    if (this.#waiting.length > 0) this.#writeNext();
    else if (this.#used > 0) this.#writeLater(FLUSH_MS);
  }

  #fail(error: Error): void {
    if (!isBusy(error)) this.failedWrites += 1;
    this.#failed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writeLater(RETRY_MS);
  }
}

/** A pipe or terminal that accepts no more bytes at the moment. */
function isBusy(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EAGAIN';
}
