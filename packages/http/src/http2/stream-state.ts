/**
 * The states of a stream (RFC 9113 section 5.1, figure 2) as one table. Nothing is pushed, so there are no reserved states.
 * `closed` is divided by what a late frame means: it is ignored if this end has reset the stream, because it was sent
 * before the reset arrived; it is an error of the stream if the peer has reset it; else of the connection.
 */
export const STATE = {
  idle: 0,
  open: 1,
  halfClosedLocal: 2,
  halfClosedRemote: 3,
  closed: 4,
  resetByPeer: 5,
  reset: 6,
} as const;
export type StreamState = (typeof STATE)[keyof typeof STATE];

/** What happens to a stream. END_STREAM is an event of its own, after that of its frame. */
export const EVENT = {
  receiveHeaders: 0,
  receiveData: 1,
  receiveWindow: 2,
  receiveEnd: 3,
  receiveReset: 4,
  sendHeaders: 5,
  sendEnd: 6,
  sendReset: 7,
} as const;
export type StreamEvent = (typeof EVENT)[keyof typeof EVENT];
const EVENTS = 8;

/** What an event is, if it leads to no state. */
export const OUTCOME = {
  /** The frame has no effect. */
  ignored: 16,
  /** The stream is reset with STREAM_CLOSED. */
  streamClosed: 17,
  /** The connection ends with STREAM_CLOSED. */
  connectionClosed: 18,
  /** The connection ends with PROTOCOL_ERROR. */
  protocolError: 19,
  /** This end must not do it. */
  impossible: 20,
} as const;
type Outcome = (typeof OUTCOME)[keyof typeof OUTCOME];

const { open, halfClosedLocal, halfClosedRemote, closed, resetByPeer, reset } = STATE;
const { ignored, streamClosed, connectionClosed, protocolError, impossible } = OUTCOME;

/** A row for each state, a column for each event, in the order above. */
const ROWS: readonly (readonly (StreamState | Outcome)[])[] = [
  // idle
  [open, protocolError, protocolError, protocolError, protocolError, open, impossible, impossible],
  // open
  [open, open, open, halfClosedRemote, resetByPeer, open, halfClosedLocal, reset],
  // half-closed (local)
  [
    halfClosedLocal,
    halfClosedLocal,
    halfClosedLocal,
    closed,
    resetByPeer,
    impossible,
    impossible,
    reset,
  ],
  // half-closed (remote)
  [
    streamClosed,
    streamClosed,
    halfClosedRemote,
    streamClosed,
    resetByPeer,
    halfClosedRemote,
    closed,
    reset,
  ],
  // closed
  [
    connectionClosed,
    streamClosed,
    ignored,
    streamClosed,
    ignored,
    impossible,
    impossible,
    impossible,
  ],
  // closed by a reset of the peer
  [streamClosed, streamClosed, ignored, streamClosed, ignored, impossible, impossible, reset],
  // closed by a reset of this end
  [ignored, ignored, ignored, ignored, ignored, impossible, impossible, impossible],
];
const TABLE = Uint8Array.from(ROWS.flat());

/** The state after an event, or what the event is if there is none. */
export function afterEvent(state: StreamState, event: StreamEvent): StreamState | Outcome {
  return (TABLE[state * EVENTS + event] ?? impossible) as StreamState | Outcome;
}

/** Streams whose resets are remembered. A frame for an older one is taken for one of a stream that ended. */
const MAX_REMEMBERED = 256;

/** What is remembered of closed streams: which were reset, and by which side. */
export class ResetStreams {
  readonly #states = new Map<number, StreamState>();

  add(stream: number, by: typeof STATE.reset | typeof STATE.resetByPeer): void {
    this.#states.set(stream, by);
    if (this.#states.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#states.keys();
    if (oldest !== undefined) this.#states.delete(oldest);
  }

  /** The state of a stream that is not open any more. */
  stateOf(stream: number): StreamState {
    return this.#states.get(stream) ?? STATE.closed;
  }
}
