import { ConnectionGuard } from '../connection-guard.ts';
import type { CoversAuthority, End } from '../exchange.ts';
import type { ReadSocket } from '../sockets/read-socket.ts';
import type { HeaderFields } from '../fields/header-fields.ts';
import { Deadlines } from './deadlines.ts';
import { Drain } from './drain.ts';
import { FlowControl } from './flow-control.ts';
import { LastFields } from './last-fields.ts';
import { Ledger, type FrameKind } from './limits.ts';
import type { Http2Options, ServerState } from './options.ts';
import { ERROR, type EndReason } from './protocol.ts';
import { Sender, type SenderEvents } from './sender.ts';
import { PeerSettings } from './settings.ts';
import {
  afterEvent,
  EVENT,
  OUTCOME,
  STATE,
  type StreamEvent,
  type StreamState,
} from './stream-state.ts';
import { Streams } from './streams.ts';
import type { Stream, StreamConnection } from './stream.ts';

/** Replies are written within a read when they exceed this. */
const MAX_REPLY_BYTES = 16 * 1024;
/** What may wait for a peer that makes this end reply, and does not read. */
const MAX_UNREAD_BYTES = 256 * 1024;

/** What a session asks of its connection. */
interface SessionEvents {
  /** Something is to be written at the end of the turn. */
  schedule(): void;
  /** Ends the connection with an error (RFC 9113 section 5.4.1). */
  fail(code: number, reason: EndReason): void;
}

/** What both ends of a connection have told each other: settings, windows, and its streams with how they end. */
export class Session implements StreamConnection, SenderEvents {
  readonly guard: ConnectionGuard;
  readonly options: Http2Options;
  readonly sender: Sender;
  readonly flow: FlowControl;
  readonly lastFields: LastFields;
  readonly deadlines: Deadlines;
  readonly streams = new Streams();
  readonly drain = new Drain();
  readonly peer = new PeerSettings((bytes) => {
    this.sender.encoder.limit(bytes);
  });
  readonly address: string;
  readonly date: () => string;
  readonly isSecure: boolean;
  readonly coversAuthority: CoversAuthority | undefined;
  readonly #ledger: Ledger;
  readonly #connection: SessionEvents;
  /** Whether a response has begun. */
  isAnswered = false;

  constructor(
    { socket, address, coversAuthority }: Omit<ReadSocket, 'readBy'>,
    options: Http2Options,
    { budget, date }: ServerState,
    connection: SessionEvents,
  ) {
    this.options = options;
    this.date = date;
    this.address = address;
    this.isSecure = 'encrypted' in socket;
    this.coversAuthority = coversAuthority;
    this.guard = new ConnectionGuard(socket, options.internalError);
    this.sender = new Sender(socket, this);
    this.flow = new FlowControl(this.sender.control, options.clock, budget);
    this.deadlines = new Deadlines(options.clock.monotonicMs());
    this.lastFields = new LastFields(options.clock);
    this.#ledger = new Ledger(options.clock, options.limits.maxResetsPerMinute);
    this.#connection = connection;
  }

  fail(code: number, reason: EndReason = 'HTTP2_INVALID_FRAME'): void {
    this.#connection.fail(code, reason);
  }

  // What streams ask for.

  changed(stream: Stream): void {
    this.isAnswered ||= stream.hasResponded;
    this.sender.queue(stream);
    this.#connection.schedule();
  }

  encode(): void {
    this.sender.encode();
  }

  interim(stream: Stream, status: number, fields: HeaderFields): boolean {
    const isSent = this.sender.interim(stream.id, status, fields);
    if (isSent) this.#connection.schedule();
    return isSent;
  }

  abort(stream: Stream, end: Exclude<End, 'complete'>): void {
    this.reset(stream, end === 'timed_out' ? ERROR.cancel : ERROR.internalError, end);
  }

  // What the sender tells.

  ended(stream: Stream): void {
    stream.state = afterEvent(stream.state, EVENT.sendEnd) as StreamState;
  }

  taken(stream: Stream): void {
    if (stream.isClosed) return;
    // The rest of the request is not wanted (RFC 9113 section 8.1).
    if (stream.state !== STATE.closed) {
      this.sender.control.reset(stream.id, ERROR.noError);
      this.streams.wasReset(stream.id, STATE.reset);
      this.#connection.schedule();
    }
    this.#close(stream, 'complete');
  }

  writable(stream: Stream): void {
    this.guard.run(() => {
      stream.handler.writable();
    });
  }

  sentData(frames: number): void {
    this.#ledger.sentData(frames);
  }

  // What the handlers of frames tell.

  /** A stream of the peer has begun. */
  open(stream: Stream): void {
    this.streams.open.set(stream.id, stream);
    this.deadlines.hasStreams();
    if (stream.state === STATE.open) this.flow.open(stream);
  }

  /** Something waits in `sender.control`. */
  reply(): void {
    if (this.sender.control.length > MAX_REPLY_BYTES) this.sender.flush();
    if (this.sender.unreadBytes > MAX_UNREAD_BYTES) {
      this.fail(ERROR.enhanceYourCalm, 'HTTP2_UNREAD');
    } else this.#connection.schedule();
  }

  /** Counts a frame that belongs to no message. */
  count(kind: FrameKind): void {
    if (!this.#ledger.allows(kind)) this.fail(ERROR.enhanceYourCalm, 'HTTP2_FLOOD');
  }

  /**
   * Checks an event of a stream in a state, and does what follows if it is refused.
   *
   * @returns the error of the connection, or NO_ERROR; undefined if the event is to be handled
   */
  refuseEvent(id: number, state: StreamState, event: StreamEvent): number | undefined {
    switch (afterEvent(state, event)) {
      case OUTCOME.protocolError:
        return ERROR.protocolError;
      case OUTCOME.connectionClosed:
        return ERROR.streamClosed;
      case OUTCOME.ignored:
        if (event !== EVENT.receiveData) this.count('closedStream');
        return ERROR.noError;
      case OUTCOME.streamClosed: {
        this.count('closedStream');
        const stream = this.streams.open.get(id);
        if (stream !== undefined) this.reset(stream, ERROR.streamClosed, 'malformed');
        else this.resetId(id, ERROR.streamClosed);
        return ERROR.noError;
      }
      default:
        return undefined;
    }
  }

  /** Bytes of a stream were read, or dropped. undefined: it is not open. */
  read(stream: Stream | undefined, bytes: number): void {
    this.flow.read(stream, bytes);
    if (this.sender.control.length > 0) this.#connection.schedule();
  }

  /** The peer knows that it should open no more streams. Returns false if it was not asked. */
  goneAway(): boolean {
    const isAsked = this.drain.finish(this.sender.control, this.streams.last);
    if (isAsked) this.#connection.schedule();
    return isAsked;
  }

  // How streams end.

  /** Resets a stream because of this end. */
  reset(stream: Stream, code: number, end: Exclude<End, 'complete'>): void {
    if (stream.isClosed) return;
    this.#close(stream, end);
    this.resetId(stream.id, code);
  }

  /** Resets a stream that is not open. */
  resetId(id: number, code: number): void {
    this.sender.control.reset(id, code);
    this.streams.wasReset(id, STATE.reset);
    if (!this.#ledger.allowsReset()) this.fail(ERROR.enhanceYourCalm, 'HTTP2_RESETS');
    else this.reply();
  }

  /** Refuses a stream that was not handled: the peer may repeat its request (RFC 9113 section 8.7). */
  refuse(id: number): void {
    this.count('refused');
    this.sender.control.reset(id, ERROR.refusedStream);
    this.streams.wasReset(id, STATE.reset);
    this.reply();
  }

  /** The peer has reset a stream. */
  resetByPeer(stream: Stream): void {
    this.streams.wasReset(stream.id, STATE.resetByPeer);
    this.#close(stream, 'peer_left');
    if (!this.#ledger.allowsReset()) this.fail(ERROR.enhanceYourCalm, 'HTTP2_RESETS');
  }

  /** The connection ends. */
  closeAll(end: Exclude<End, 'complete'>): void {
    this.streams.stopDispatch();
    for (const stream of [...this.streams.open.values()]) this.#close(stream, end);
  }

  #close(stream: Stream, end: End): void {
    if (stream.isClosed) return;
    stream.isClosed = true;
    // A tunnel is complete, however it ends, once its head was sent.
    const outcome = stream.isTunnel && stream.fields === undefined ? 'complete' : end;
    this.streams.open.delete(stream.id);
    this.flow.expectLess(Math.max(0, stream.missingBytes ?? 0));
    if (this.streams.open.size === 0) {
      this.deadlines.isIdle(this.options.clock.monotonicMs());
      this.flow.isIdle();
    }
    stream.dropOutput();
    this.guard.run(() => {
      if (end === 'complete') stream.body.discard();
      else stream.body.fail(end);
    });
    if (stream.isDispatched) {
      this.guard.run(() => {
        stream.handler.closed(outcome);
      });
    }
    if (this.drain.isBegun) this.#connection.schedule();
  }
}
