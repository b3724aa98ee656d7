import { probePort } from './probe-port.ts';

/** Ports of 127.0.0.1, in blocks of the same size: `first` is the first port of the first block. */
export interface PortRange {
  readonly first: number;
  readonly blocks: number;
  readonly portsPerBlock: number;
}

export interface PortBlockOptions {
  /** Selects the block. Processes that run at the same time have neighbouring pids and therefore different blocks. */
  readonly pid: number;
  /** The position in the block of the first port to try. */
  readonly start: number;
}

/** The ports of a range that one process tries, so that two processes do not take the same port at the same time. */
export class PortBlock {
  readonly first: number;
  readonly #size: number;
  #next: number;

  constructor({ first, blocks, portsPerBlock }: PortRange, { pid, start }: PortBlockOptions) {
    this.first = first + (pid % blocks) * portsPerBlock;
    this.#size = portsPerBlock;
    this.#next = start;
  }

  get last(): number {
    return this.first + this.#size - 1;
  }

  /**
   * Tries so many ports of the block in turn, at most each of them once, and resolves with the first that is free, or with
   * undefined. Another process may still take it before the caller binds it.
   */
  async findFree(tries = this.#size): Promise<number | undefined> {
    for (let count = 0; count < Math.min(tries, this.#size); count += 1) {
      const port = this.first + this.#next;
      this.#next = (this.#next + 1) % this.#size;
      try {
        return await probePort(port);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      }
    }
    return undefined;
  }
}
