import type { Writable } from 'node:stream';

/**
 * Buffers for bytes that a socket may write after the read buffer was overwritten. They are used again, because a new
 * buffer for each read makes the garbage collector run for a fifth of the CPU time of a large body.
 */
export class WriteBuffers {
  readonly #bytes: number;
  readonly #maxUnused: number;
  /** The last one that was returned is used first, because the CPU's cache still holds it. */
  readonly #unused: WriteBuffer[] = [];
  readonly #giveBack = (buffer: WriteBuffer) => {
    if (this.#unused.length < this.#maxUnused) this.#unused.push(buffer);
  };

  /** @param maxUnused how many are kept. Further ones that are returned are left to the garbage collector. */
  constructor(bytes: number, maxUnused: number) {
    this.#bytes = bytes;
    this.#maxUnused = maxUnused;
  }

  /** How many are kept for use. */
  get unused(): number {
    return this.#unused.length;
  }

  /** Returns one that nothing refers to. It is for one call of `write`. */
  take(): WriteBuffer {
    return this.#unused.pop() ?? new WriteBuffer(this.#bytes, this.#giveBack);
  }
}

/** Memory that is written to a socket, and used again when the socket does not need it any more. */
export class WriteBuffer {
  readonly memory: Buffer;
  #socket: Writable | undefined = undefined;
  /** One function for all writes, so that a write makes none. */
  readonly #written: (error?: Error | null) => void;

  constructor(bytes: number, giveBack: (buffer: WriteBuffer) => void) {
    // Not from the pool of Node, whose memory it would keep.
    this.memory = Buffer.allocUnsafeSlow(bytes);
    this.#written = (error) => {
      const socket = this.#socket;
      this.#socket = undefined;
      // After a failure the system may still read the memory. Such a buffer is never used again.
      if (socket?.destroyed === false && (error === undefined || error === null)) giveBack(this);
    };
  }

  /** Writes its first bytes. Returns what `write` of the socket returns. */
  write(socket: Writable, bytes: number): boolean {
    this.#socket = socket;
    return socket.write(this.memory.subarray(0, bytes), this.#written);
  }
}
