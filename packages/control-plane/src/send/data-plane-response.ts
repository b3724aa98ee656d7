import type { IncomingMessage } from 'node:http';

/** The largest part of a body that is shown, bytes. */
export const MAX_SHOWN_BYTES = 1024 * 1024;

/**
 * How the body ended: completely, at `MAX_SHOWN_BYTES`, at the end of the time, or because the connection broke off. In the last
 * three cases the rest was not read.
 */
export type BodyEnd = 'complete' | 'size' | 'time' | 'broken';

/** What a data plane answered. */
export interface DataPlaneResponse {
  readonly status: number;
  readonly statusText: string;
  /** Names and values, as sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly end: BodyEnd;
  /** Until the head had arrived, and until the end, ms. */
  readonly headMs: number;
  readonly totalMs: number;
}

/** The names and values of `rawHeaders`. */
export function pairsOf(raw: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [
    raw[2 * index] ?? '',
    raw[2 * index + 1] ?? '',
  ]);
}

/** Reads a body up to `MAX_SHOWN_BYTES`. */
export class ShownBody {
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  /** @param onEnd called once, unless the reader stops before */
  constructor(response: IncomingMessage, onEnd: (end: BodyEnd) => void) {
    response.on('data', (part: Buffer) => {
      const shown = part.subarray(0, MAX_SHOWN_BYTES - this.#bytes);
      this.#parts.push(shown);
      this.#bytes += shown.length;
      if (shown.length < part.length) onEnd('size');
    });
    // Without a listener the loss of the connection would end the process.
    response.on('error', () => undefined);
    response.on('close', () => onEnd(response.complete ? 'complete' : 'broken'));
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
