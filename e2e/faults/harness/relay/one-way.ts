import type { Socket } from 'node:net';

/** How a relay currently treats bytes. */
export interface Weather {
  /** Delay of every byte, each way. */
  readonly delayMs: number;
  /** `stalled` does not read bytes, `swallowing` reads and drops them. */
  readonly bytes: 'relayed' | 'stalled' | 'swallowing';
}

/** Bytes that one direction of a connection may buffer before its sender must wait. */
const MAX_HELD_BYTES = 1024 * 1024;

interface Held {
  readonly bytes: Buffer;
  readonly dueMs: number;
}

/** Relays bytes one way, in order, each after its delay. */
export class OneWay {
  readonly #source: Socket;
  readonly #target: Socket;
  readonly #weather: () => Weather;
  #held: Held[] = [];
  #heldBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(source: Socket, target: Socket, weather: () => Weather) {
    this.#source = source;
    this.#target = target;
    this.#weather = weather;
    source.on('data', (bytes: Buffer) => {
      if (weather().bytes === 'swallowing') return;
      this.#held.push({ bytes, dueMs: performance.now() + weather().delayMs });
      this.#heldBytes += bytes.length;
      this.#flush();
    });
    source.on('end', () => {
      this.#ended = true;
      this.#flush();
    });
    source.on('close', () => clearTimeout(this.#timer));
    target.on('drain', () => this.#flush());
    this.weatherChanged();
  }

  /** Applies the current state of the link. */
  weatherChanged(): void {
    if (this.#weather().bytes === 'stalled') this.#source.pause();
    else this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    const { bytes: state } = this.#weather();
    if (state !== 'relayed' || this.#target.destroyed) {
      if (state === 'swallowing') this.#source.resume();
      return;
    }
    const nowMs = performance.now();
    while (!this.#target.writableNeedDrain) {
      const [first] = this.#held;
      if (first === undefined) break;
      if (first.dueMs > nowMs) {
        this.#timer = setTimeout(() => this.#flush(), first.dueMs - nowMs);
        break;
      }
      this.#held.shift();
      this.#heldBytes -= first.bytes.length;
      this.#target.write(first.bytes);
    }
    if (this.#heldBytes > MAX_HELD_BYTES) this.#source.pause();
    else this.#source.resume();
    if (this.#ended && this.#held.length === 0) this.#target.end();
  }
}
