import type { ServerExchange } from '../exchange.ts';
import { ResetStreams, STATE, type StreamState } from './stream-state.ts';
import type { Stream } from './stream.ts';

/** The streams of a connection: those that are open, and what is remembered of others. */
export class Streams {
  readonly open = new Map<number, Stream>();
  /** The newest stream of the peer. */
  last = 0;
  readonly #resets = new ResetStreams();
  /** Streams whose handlers were not told of them. */
  #new: Stream[] = [];

  /** The state of a stream, also if it is not open. */
  stateOf(id: number): StreamState {
    const stream = this.open.get(id);
    if (stream !== undefined) return stream.state;
    // The peer's streams have odd ids; this end opens none.
    return id > this.last || (id & 1) === 0 ? STATE.idle : this.#resets.stateOf(id);
  }

  /**
   * Whether the peer may not open another one. A stream that both sides have ended does not count (RFC 9113 section 5.1.2),
   * also while the system has not taken the end of its response: the peer may know of it before this end does.
   */
  isFull(max: number): boolean {
    if (this.open.size < max) return false;
    let count = 0;
    for (const { state } of this.open.values()) if (state !== STATE.closed) count += 1;
    return count >= max;
  }

  /** A stream was reset. */
  wasReset(id: number, by: typeof STATE.reset | typeof STATE.resetByPeer): void {
    this.#resets.add(id, by);
  }

  /** How many streams there are whose handlers were not told of them. */
  get newCount(): number {
    return this.#new.length;
  }

  /** Notes a stream whose handler is called at the end of the read, or in a later turn. */
  dispatchLater(stream: Stream): void {
    this.#new.push(stream);
  }

  /** Tells handlers of the first `count` streams. A stream that was reset before its turn reaches no handler. */
  dispatch(count: number, onExchange: (exchange: ServerExchange) => void): void {
    const streams = this.#new;
    this.#new = streams.length > count ? streams.splice(count) : [];
    for (const stream of streams) {
      if (stream.isClosed) continue;
      stream.isDispatched = true;
      onExchange(stream);
    }
  }

  /** No handler is told of further streams. */
  stopDispatch(): void {
    this.#new = [];
  }
}
