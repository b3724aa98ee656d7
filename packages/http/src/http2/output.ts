import type { Socket } from 'node:net';

/** The memory of one write. */
export const OUTPUT_BYTES = 64 * 1024;
/** Together they keep four megabytes. */
const MAX_UNUSED = 64;

/** Memory that no write needs, for all connections. The last one is used first, because the CPU's cache still holds it. */
const unused: Buffer[] = [];

function release(memory: Buffer): void {
  if (unused.length < MAX_UNUSED) unused.push(memory);
}

/**
 * Writes to a socket from memory that all connections share. Mostly it is free again when `write` returns: TLS copies what
 * it is given, unless it is still busy, and the system mostly takes all of a short write at once.
 */
export class Output {
  readonly #socket: Socket;
  readonly #isSecure: boolean;
  readonly #taken: () => void;
  /** For each write that was not reported: its memory, if it may still be read. */
  readonly #writes: (Buffer | undefined)[] = [];
  readonly #written = (error?: Error | null) => {
    const memory = this.#writes.shift();
    // After a failure the system may still read the memory. It is never used again.
    if (this.#socket.destroyed || (error !== undefined && error !== null)) return;
    if (memory !== undefined) release(memory);
    if (this.#socket.writableLength === 0) this.#taken();
  };

  /** @param taken called when the system has taken all that was written */
  constructor(socket: Socket, taken: () => void) {
    this.#socket = socket;
    this.#isSecure = 'encrypted' in socket;
    this.#taken = taken;
  }

  /** Memory of OUTPUT_BYTES for one write. */
  take(): Buffer {
    return unused.pop() ?? Buffer.allocUnsafeSlow(OUTPUT_BYTES);
  }

  /** Writes the first bytes of such memory, which the caller must not use any more. */
  write(memory: Buffer, bytes: number): void {
    const isCopied = this.#isSecure && this.#socket.writableLength === 0;
    this.#writes.push(isCopied ? undefined : memory);
    this.#socket.write(memory.subarray(0, bytes), this.#written);
    if (isCopied) release(memory);
  }
}
