import { write, writeSync } from 'node:fs';

/** A block is written when it is full, or after this time. */
const BLOCK_BYTES = 256 * 1024;
const FLUSH_MS = 200;
/** Of what waits for a reader that is slow, or for room on a disk; further lines are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** While the reader takes nothing more, or after a failure. */
const RETRY_MS = 100;
/** How long the end of the process is held up by a reader that takes nothing. */
const MAX_SYNC_TRIES = 20;
const SYNC_RETRY_MS = 10;
const NEWLINE = '\n';
/** UTF-8 takes at most so many bytes for a UTF-16 code unit. */
const MAX_BYTES_PER_CHAR = 3;

/**
 * Lines on their way to a file descriptor, in blocks. What cannot be written, as on a full disk, is tried
 * again, up to a bound; it neither ends the process nor keeps it from ending. (pino's own destination
 * ends a process that does not listen for errors, and never comes back from its last write on a full disk.)
 */
export class LogOutput {
  readonly #fd: number;
  readonly #maxWaitingBytes: number;
  /** Writes that failed; what they held is tried again for as long as the process runs. */
  failedWrites = 0;
  /** Lines that were given up. */
  droppedLines = 0;
  /** What comes goes here as bytes at once: as text it would be many small objects until the next write. */
  #block: Buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #used = 0;
  /** What came before the block, the oldest first; that one may be on its way. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** A block that was written, to be filled again. */
  #spare: Buffer | undefined = undefined;
  #writing = false;
  #failed = false;
  #timer: NodeJS.Timeout | undefined = undefined;
  #watchesExit = false;

  /** The descriptor must stay open for as long as anything waits: its number could else be another's. */
  constructor(fd: number, maxWaitingBytes = MAX_WAITING_BYTES) {
    this.#fd = fd;
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  /** @param lines whole lines; there may be several of them */
  write(lines: string): void {
    this.#flushAtExit();
    if (this.#waitingBytes >= this.#maxWaitingBytes) {
      this.droppedLines += lines.split(NEWLINE).length - 1;
      return;
    }
    // Measured only where the worst that its characters could take might not fit.
    if (this.#used + lines.length * MAX_BYTES_PER_CHAR > BLOCK_BYTES) this.#makeRoom(lines);
    else this.#used += this.#block.write(lines, this.#used);
    if (this.#waiting.length > 0) this.#writeNext();
    else this.#writeLater(FLUSH_MS);
  }

  /**
   * Writes what waits before it returns, as far as that goes at once; the rest waits on. Of a block that is
   * being written meanwhile, what the reader did not take comes behind it.
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

  /** Gives what was not taken. */
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
    // After a failure the time of the next try has to come.
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

/** A pipe or terminal that takes nothing more for now. */
function isBusy(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EAGAIN';
}
