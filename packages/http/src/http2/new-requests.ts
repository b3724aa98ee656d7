import type { ServerExchange } from '../exchange.ts';
import type { Stream } from './stream.ts';

/** The requests of a connection that were read, and whose handlers were not told of them. */
export class NewRequests {
  #streams: Stream[] = [];

  get count(): number {
    return this.#streams.length;
  }

  /** Notes a stream whose handler is called at the end of the read, or in a later turn. */
  add(stream: Stream): void {
    this.#streams.push(stream);
  }

  /** Tells handlers of the first `count` streams. A stream that was reset before its turn reaches no handler. */
  dispatch(count: number, onExchange: (exchange: ServerExchange) => void): void {
    const streams = this.#streams;
    this.#streams = streams.length > count ? streams.splice(count) : [];
    for (const stream of streams) {
      if (stream.isClosed) continue;
      stream.isDispatched = true;
      onExchange(stream);
    }
  }

  /** No handler is told of further streams. */
  stop(): void {
    this.#streams = [];
  }
}
