import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { ConnectionGuard } from '../connection-guard.ts';
import type { End } from '../exchange.ts';
import { Deadlines, type DeadlineLimits } from './deadlines.ts';
import type { FieldLimits } from './field-limits.ts';
import { FlowControl, type WaitingBound } from './flow-control.ts';
import { LastFields } from './last-fields.ts';
import { Ledger, type FrameKind } from './limits.ts';
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
import type { Http2Stream, StreamSession } from './http2-stream.ts';
import type { WindowBudget } from './window-budget.ts';

/** Replies are written within a read when they exceed this. */
const MAX_REPLY_BYTES = 16 * 1024;
/** What may wait for a peer that makes this end reply, and does not read. */
const MAX_UNREAD_BYTES = 256 * 1024;

/** What a session asks of its connection. */
export interface SessionEvents {
  /** Something is to be written at the end of the turn. */
  schedule(): void;
  /** Ends the connection with an error (RFC 9113 section 5.4.1). */
  fail(code: number, reason: EndReason): void;
}

/** The limits of a connection at either end. */
export interface SessionLimits extends FieldLimits, DeadlineLimits {
  /** Streams that may be reset in a minute, by either side. */
  readonly maxResetsPerMinute: number;
}

export interface SessionOptions {
  readonly clock: Clock;
  readonly limits: SessionLimits;
  readonly waitingBound: WaitingBound;
}

/** What both ends of a connection have told each other: settings, windows, and its streams with how they end. */
export abstract class Http2Session implements StreamSession, SenderEvents {
  readonly guard: ConnectionGuard;
  readonly clock: Clock;
  readonly limits: SessionLimits;
  readonly sender: Sender;
  readonly flow: FlowControl;
  readonly lastFields: LastFields;
  readonly deadlines: Deadlines;
  readonly streams = new Streams();
  readonly peer = new PeerSettings((bytes) => {
    this.sender.encoder.limit(bytes);
  });
  protected readonly ledger: Ledger;
  protected readonly connection: SessionEvents;

  constructor(
    socket: Socket,
    { clock, limits, waitingBound }: SessionOptions,
    budget: WindowBudget,
    connection: SessionEvents,
    guard: ConnectionGuard,
  ) {
    this.clock = clock;
    this.limits = limits;
    this.guard = guard;
    this.sender = new Sender(socket, this);
    this.flow = new FlowControl(this.sender.control, clock, budget, waitingBound);
    this.deadlines = new Deadlines(clock.monotonicMs());
    this.lastFields = new LastFields(clock);
    this.ledger = new Ledger(clock, limits.maxResetsPerMinute);
    this.connection = connection;
  }

  // What differs between the ends.

  /** Whether the peer is the server. */
  abstract readonly peerIsServer: boolean;
  /** The settings of this end, apart from its windows. */
  abstract get ownSettings(): readonly (readonly [setting: number, value: number])[];
  /** The message of the peer has ended, and was passed on. */
  abstract received(stream: Http2Stream): void;
  /** The settings of the peer have changed. */
  abstract settingsHaveChanged(): void;
  /** A ping other than that of a round trip is answered. Returns false if it was not sent. */
  abstract pingIsAnswered(question: number): boolean;
  /** The peer handles no stream after this one. */
  abstract peerGoesAway(lastStream: number): void;
  abstract opened(stream: Http2Stream): void;
  abstract taken(stream: Http2Stream): void;
  /** A stream was closed, which is not open any more. */
  protected abstract hasClosed(stream: Http2Stream): void;

  fail(code: number, reason: EndReason = 'HTTP2_INVALID_FRAME'): void {
    this.connection.fail(code, reason);
  }

  // What streams ask for.

  changed(stream: Http2Stream): void {
    this.sender.queue(stream);
    this.connection.schedule();
  }

  encode(): void {
    this.sender.encode();
  }

  // What the sender tells.

  ended(stream: Http2Stream): void {
    stream.state = afterEvent(stream.state, EVENT.sendEnd) as StreamState;
  }

  writable(stream: Http2Stream): void {
    this.guard.run(() => {
      stream.writable();
    });
  }

  sentData(frames: number): void {
    this.ledger.sentData(frames);
  }

  // What the handlers of frames tell.

  /** Something waits in `sender.control`. */
  reply(): void {
    if (this.sender.control.length > MAX_REPLY_BYTES) this.sender.flush();
    if (this.sender.unreadBytes > MAX_UNREAD_BYTES) {
      this.fail(ERROR.enhanceYourCalm, 'HTTP2_UNREAD');
    } else this.connection.schedule();
  }

  /** Counts a frame that belongs to no message. */
  count(kind: FrameKind): void {
    if (!this.ledger.allows(kind)) this.fail(ERROR.enhanceYourCalm, 'HTTP2_FLOOD');
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
  read(stream: Http2Stream | undefined, bytes: number): void {
    this.flow.read(stream, bytes);
    if (this.sender.control.length > 0) this.connection.schedule();
  }

  // How streams end.

  /** Resets a stream because of this end. */
  reset(stream: Http2Stream, code: number, end: Exclude<End, 'complete'>): void {
    if (stream.isClosed) return;
    this.close(stream, end);
    this.resetId(stream.id, code);
  }

  /** Resets a stream that is not open. */
  resetId(id: number, code: number): void {
    this.sender.control.reset(id, code);
    this.streams.wasReset(id, STATE.reset);
    if (!this.ledger.allowsReset()) this.fail(ERROR.enhanceYourCalm, 'HTTP2_RESETS');
    else this.reply();
  }

  /** The peer has reset a stream. */
  resetByPeer(stream: Http2Stream, _code: number): void {
    this.streams.wasReset(stream.id, STATE.resetByPeer);
    this.close(stream, 'peer_left');
    if (!this.ledger.allowsReset()) this.fail(ERROR.enhanceYourCalm, 'HTTP2_RESETS');
  }

  /** The connection ends. */
  closeAll(end: Exclude<End, 'complete'>): void {
    for (const stream of [...this.streams.open.values()]) this.close(stream, end);
  }

  protected close(stream: Http2Stream, end: End): void {
    if (stream.isClosed) return;
    stream.isClosed = true;
    this.streams.open.delete(stream.id);
    this.flow.expectLess(Math.max(0, stream.missingBytes ?? 0));
    this.flow.closed(stream);
    if (!this.hasStreams) {
      this.deadlines.isIdle(this.clock.monotonicMs());
      this.flow.isIdle();
    }
    stream.closed(end);
    stream.dropOutput();
    this.hasClosed(stream);
  }

  /** Whether a stream is open. */
  get hasStreams(): boolean {
    return this.streams.open.size > 0;
  }
}
