import type { Socket } from 'node:net';
import type { ConnectionGuard, ReportInternalError } from '../../connection-guard.ts';
import type { End, ExchangeFailure } from '../../exchange.ts';
import { Http2Session, type SessionEvents } from '../http2-session.ts';
import { ERROR, MAX_STREAM_ID, PING, SETTING } from '../protocol.ts';
import { afterEvent, EVENT, STATE, type StreamState } from '../stream-state.ts';
import { Liveness } from './liveness.ts';
import type { ClientLimits, ClientState } from './options.ts';
import type { ClientStreamSession, Http2ClientStream } from './stream.ts';

/** What the server may send of a stream that this end resets, before it knows. */
const LATE_FRAMES = 8;

/** What a session of a client asks of its connection. */
export interface ClientSessionEvents extends SessionEvents {
  /** A stream was closed, or the server allows another number of them. */
  changed(): void;
  /** The first settings of the server have arrived. */
  limitKnown(): void;
  /** The server takes no further request. */
  goesAway(): void;
}

/** The session of a connection to a server: its streams are requests of this end. */
export class ClientSession extends Http2Session implements ClientStreamSession {
  override readonly peerIsServer = true;
  override readonly limits: ClientLimits;
  readonly internalError: ReportInternalError;
  readonly liveness: Liveness;
  /** Whether the server takes no further request. */
  isGoingAway = false;
  /** How many streams this end has reset. */
  resets = 0;
  readonly #events: ClientSessionEvents;
  /** Requests whose heads were not sent. */
  readonly #unsent = new Set<Http2ClientStream>();
  #nextId = 1;
  /** What the server allowed at last. */
  #hasSettings = false;
  #lastMax: number;

  constructor(
    socket: Socket,
    { clock, limits, budget }: ClientState,
    connection: ClientSessionEvents,
    guard: ConnectionGuard,
    internalError: ReportInternalError,
    checkMs: number,
  ) {
    super(socket, { clock, limits, waitingBound: 'stream' }, budget, connection, guard);
    this.limits = limits;
    this.internalError = internalError;
    this.#events = connection;
    // Before its settings have arrived.
    this.peer.maxConcurrentStreams = this.#lastMax = limits.maxConcurrentStreams;
    this.liveness = new Liveness(this.sender.control, limits, clock.monotonicMs(), 2 * checkMs);
  }

  override get ownSettings(): (readonly [number, number])[] {
    return [
      [SETTING.enablePush, 0],
      [SETTING.maxHeaderListSize, this.limits.maxHeaderBytes],
    ];
  }

  /** How many requests are in progress. */
  get carried(): number {
    return this.streams.open.size + this.#unsent.size;
  }

  /** How many further requests it takes. */
  get free(): number {
    if (this.isGoingAway) return 0;
    const allowed = Math.min(this.limits.maxConcurrentStreams, this.peer.maxConcurrentStreams);
    const ids = (MAX_STREAM_ID - this.#nextId) / 2 + 1 - this.#unsent.size;
    return Math.max(0, Math.min(allowed - this.carried, ids));
  }

  override get hasStreams(): boolean {
    return this.carried > 0;
  }

  /** A request is to be sent. */
  add(stream: Http2ClientStream): void {
    if (!this.hasStreams) {
      this.deadlines.hasStreams();
      this.liveness.begins();
    }
    this.#unsent.add(stream);
  }

  /**
   * Sends an extended CONNECT as soon as the server has said that it takes one (RFC 8441 section 3). What its first settings
   * do not offer is not awaited: later ones may never come.
   */
  connect(stream: Http2ClientStream): void {
    if (!this.#hasSettings) return;
    if (this.peer.allowsExtendedConnect) stream.sendConnect();
    else this.failed(stream, 'connect_not_offered');
  }

  override opened(stream: Http2ClientStream): void {
    stream.id = this.#nextId;
    this.#nextId += 2;
    stream.state = afterEvent(stream.state, EVENT.sendHeaders) as StreamState;
    this.#unsent.delete(stream);
    this.streams.last = stream.id;
    this.streams.open.set(stream.id, stream);
    // Another connection is needed (RFC 9113 section 5.1.1).
    if (this.#nextId > MAX_STREAM_ID) this.#goAway();
  }

  override ended(stream: Http2ClientStream): void {
    super.ended(stream);
    if (stream.state === STATE.closed) this.close(stream, 'complete');
  }

  /** The socket has no more of it; it is closed when the response has ended too. */
  override taken(): void {
    return undefined;
  }

  override received(stream: Http2ClientStream): void {
    // The bytes of a tunnel end in each direction alone.
    if (stream.isClosed || (stream.isTunnel && stream.state !== STATE.closed)) return;
    // The rest of the request is not wanted.
    if (stream.state !== STATE.closed) this.#resetOpen(stream, ERROR.noError);
    this.close(stream, 'complete');
  }

  override settingsHaveChanged(): void {
    const { maxConcurrentStreams } = this.peer;
    const isMore = maxConcurrentStreams > this.#lastMax;
    this.#lastMax = maxConcurrentStreams;
    if (!this.#hasSettings) {
      this.#hasSettings = true;
      this.#connectWaiting();
      this.#events.limitKnown();
    }
    if (isMore) this.#events.changed();
  }

  #connectWaiting(): void {
    for (const stream of [...this.#unsent]) {
      if (stream.connect !== undefined) this.connect(stream);
    }
  }

  override pingIsAnswered(question: number): boolean {
    return question === PING.alive && this.liveness.isAnswered();
  }

  override peerGoesAway(lastStream: number): void {
    const isFirst = !this.isGoingAway;
    this.isGoingAway = true;
    const isUnhandled = ({ id }: Http2ClientStream) => id === 0 || id > lastStream;
    for (const stream of this.#all().filter(isUnhandled)) {
      stream.failure = 'goaway';
      this.close(stream, 'peer_left');
    }
    if (isFirst) this.#events.goesAway();
  }

  #goAway(): void {
    this.isGoingAway = true;
    this.#events.goesAway();
  }

  override resetByPeer(stream: Http2ClientStream, code: number): void {
    if (code === ERROR.refusedStream) stream.failure = 'refused_stream';
    else if (code === ERROR.cancel && stream.hasHead) stream.failure = 'server_cancelled';
    super.resetByPeer(stream, code);
  }

  /** The fields of a response exceed a limit of this end. */
  fieldsTooLarge(stream: Http2ClientStream): void {
    this.failed(stream, 'response_head_too_large');
  }

  failed(stream: Http2ClientStream, why: ExchangeFailure): void {
    stream.failure = why;
    this.cancel(stream);
  }

  cancel(stream: Http2ClientStream): void {
    if (stream.isClosed) return;
    // Before its head was sent, the server knows nothing of it.
    if (stream.id > 0) this.#resetOpen(stream, stream.hasEnded ? ERROR.noError : ERROR.cancel);
    this.close(stream, 'peer_left');
  }

  override reset(stream: Http2ClientStream, code: number, end: Exclude<End, 'complete'>): void {
    if (stream.isClosed) return;
    this.#resetOpen(stream, code);
    this.close(stream, end);
  }

  override resetId(id: number, code: number): void {
    this.resets += 1;
    super.resetId(id, code);
  }

  #resetOpen(stream: Http2ClientStream, code: number): void {
    this.ledger.allowMore('closedStream', LATE_FRAMES);
    // Those of a closed stream count as both kinds.
    this.ledger.allowMore('windowUpdate', LATE_FRAMES);
    this.resetId(stream.id, code);
  }

  #all(): Http2ClientStream[] {
    return [...(this.streams.open.values() as Iterable<Http2ClientStream>), ...this.#unsent];
  }

  override closeAll(end: Exclude<End, 'complete'>): void {
    for (const stream of this.#all()) this.close(stream, end);
  }

  /** Says why the streams fail, which are about to be closed. */
  failAs(why: ExchangeFailure): void {
    for (const stream of this.#all()) stream.failure = why;
  }

  /** The connection ends without a word to the handlers. */
  silence(): void {
    for (const stream of this.#all()) stream.silence();
  }

  protected override close(stream: Http2ClientStream, end: End): void {
    this.#unsent.delete(stream);
    super.close(stream, end);
  }

  protected override hasClosed(): void {
    this.#events.changed();
  }
}
