import { write, writeSync } from 'node:fs';

/** A block is written when it is full, or after this time. */
const BLOCK_CHARS = 64 * 1024;
const FLUSH_MS = 200;
/** Of what waits for a reader that is slow, or for room on a disk; further lines are dropped. */
const MAX_WAITING_CHARS = 16 * 1024 * 1024;
/** While the reader takes nothing more, or after a failure. */
const RETRY_MS = 100;
/** How long the end of the process is held up by a reader that takes nothing. */
const MAX_SYNC_TRIES = 20;
const SYNC_RETRY_MS = 10;
const NEWLINE = '\n';

/**
 * Lines on their way to a file descriptor, in blocks. What cannot be written, as on a full disk, is tried
 * again, up to a bound; it neither ends the process nor keeps it from ending. (pino's own destination
 * ends a process that does not listen for errors, and never comes back from its last write on a full disk.)
 */
export class LogOutput {
  readonly #fd: number;
  /** Writes that failed; what they held was tried again. */
  failedWrites = 0;
  /** Lines that were given up. */
  droppedLines = 0;
  #block = '';
  /** What is being written, or is to be written next. */
  #rest: Buffer | undefined = undefined;
  #writing = false;
  #timer: NodeJS.Timeout | undefined = undefined;
  #watchesExit = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** @param lines whole lines; there may be several of them */
  write(lines: string): void {
    if (this.#block.length + lines.length > MAX_WAITING_CHARS) {
      this.droppedLines += lines.split(NEWLINE).length - 1;
      return;
    }
    this.#block += lines;
    if (this.#block.length >= BLOCK_CHARS) this.#writeNext();
    else this.#writeLater(FLUSH_MS);
  }

  /** Writes what waits before it returns, as far as that goes at once. */
  flushSync(): void {
    const waiting = this.#writing ? [] : [this.#rest ?? Buffer.alloc(0)];
    let bytes = Buffer.concat([...waiting, Buffer.from(this.#block)]);
    this.#block = '';
    if (!this.#writing) this.#rest = undefined;
    for (let tries = 0; bytes.length > 0 && tries < MAX_SYNC_TRIES;) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
      } catch (error) {
        if (!isBusy(error)) {
          this.failedWrites += 1;
          return;
        }
        tries += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SYNC_RETRY_MS);
      }
    }
  }

  flush(done?: () => void): void {
    this.flushSync();
    done?.();
  }

  #writeLater(delayMs: number): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#writeNext();
    }, delayMs).unref();
    if (this.#watchesExit) return;
    this.#watchesExit = true;
    process.once('exit', () => {
      this.flushSync();
    });
  }

  #writeNext(): void {
    if (this.#writing) return;
    if (this.#rest === undefined) {
      if (this.#block === '') return;
      this.#rest = Buffer.from(this.#block);
      this.#block = '';
    }
    this.#writing = true;
    write(this.#fd, this.#rest, (error, written) => {
      this.#written(error, written);
    });
  }

  #written(error: Error | null, bytes: number): void {
    this.#writing = false;
    if (error !== null) {
      if (!isBusy(error)) this.failedWrites += 1;
      this.#writeLater(RETRY_MS);
      return;
    }
    const rest = this.#rest?.subarray(bytes);
    this.#rest = rest === undefined || rest.length === 0 ? undefined : rest;
    if (this.#rest !== undefined || this.#block.length >= BLOCK_CHARS) this.#writeNext();
    else if (this.#block !== '') this.#writeLater(FLUSH_MS);
  }
}

/** A pipe or terminal that takes nothing more for now. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}
