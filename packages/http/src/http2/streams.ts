import { ResetStreams, STATE, type StreamState } from './stream-state.ts';
import type { Http2Stream } from './http2-stream.ts';

/** The streams of a connection: those that are open, and what is remembered of others. */
export class Streams {
  readonly open = new Map<number, Http2Stream>();
  /** The newest stream. */
  last = 0;
  readonly #resets = new ResetStreams();

  /** The state of a stream, also if it is not open. */
  stateOf(id: number): StreamState {
    const stream = this.open.get(id);
    if (stream !== undefined) return stream.state;
    // Clients open streams, with odd ids. Servers would push.
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
}
