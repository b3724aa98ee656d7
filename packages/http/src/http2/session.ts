import { ConnectionGuard } from '../connection-guard.ts';
import type { CoversAuthority, End } from '../exchange.ts';
import type { HeaderFields } from '../fields/header-fields.ts';
import type { ReadSocket } from '../sockets/read-socket.ts';
import { Drain } from './drain.ts';
import { ControlFrames } from './frame-writer.ts';
import { READ_PER_ALLOWED } from './header-blocks.ts';
import { Http2Session, type SessionEvents } from './http2-session.ts';
import { NewRequests } from './new-requests.ts';
import type { BodilessRefusal, Http2Options, ServerState } from './options.ts';
import { ERROR, PING, SETTING } from './protocol.ts';
import { STATE } from './stream-state.ts';
import type { Stream, StreamConnection } from './stream.ts';
import type { Http2Stream } from './http2-stream.ts';
import { UnwantedRest } from './unwanted-rest.ts';

/** What a session of a caller asks of its connection. */
export interface ServerSessionEvents extends SessionEvents {
  /** Ends the connection and its streams now. */
  breakOff(): void;
}

/** The session of a connection of a caller: its streams are requests of the peer. */
export class Session extends Http2Session implements StreamConnection {
  override readonly peerIsServer = false;
  readonly options: Http2Options;
  readonly newRequests = new NewRequests();
  readonly drain = new Drain();
  readonly address: string;
  readonly date: () => string;
  readonly isSecure: boolean;
  readonly coversAuthority: CoversAuthority | undefined;
  /** Whether a response has begun. */
  isAnswered = false;

  constructor(
    { socket, address, coversAuthority }: Omit<ReadSocket, 'readBy'>,
    options: Http2Options,
    { budget, date }: ServerState,
    connection: ServerSessionEvents,
  ) {
    const broken = {
      destroy: () => {
        connection.breakOff();
      },
    };
    const guard = new ConnectionGuard(broken, options.internalError);
    const { clock, limits } = options;
    super(socket, { clock, limits, waitingBound: 'connection' }, budget, connection, guard);
    this.options = options;
    this.date = date;
    this.address = address;
    this.isSecure = 'encrypted' in socket;
    this.coversAuthority = coversAuthority;
  }

  override get ownSettings(): (readonly [number, number])[] {
    const { limits, webSocketKey } = this.options;
    const settings: (readonly [number, number])[] = [
      [SETTING.maxConcurrentStreams, limits.maxConcurrentStreams],
      // Fields above the limit are read, so that they are refused with a response.
      [SETTING.maxHeaderListSize, limits.maxHeaderBytes * READ_PER_ALLOWED],
    ];
    if (webSocketKey !== undefined) settings.push([SETTING.enableConnectProtocol, 1]);
    return settings;
  }

  // What streams ask for.

  override changed(stream: Stream): void {
    this.isAnswered ||= stream.hasResponded;
    super.changed(stream);
  }

  interim(stream: Stream, status: number, fields: HeaderFields): boolean {
    const isSent = this.sender.headAtOnce(stream.id, status, fields, false);
    if (isSent) this.connection.schedule();
    return isSent;
  }

  abort(stream: Stream, end: Exclude<End, 'complete'>): void {
    this.reset(stream, end === 'timed_out' ? ERROR.cancel : ERROR.internalError, end);
  }

  // What the sender tells.

  /** Requests have an id. */
  override opened(): void {
    return undefined;
  }

  override taken(stream: Stream): void {
    if (stream.isClosed) return;
    const isWhole = stream.state === STATE.closed;
    this.close(stream, 'complete');
    if (isWhole) return;
    // What the two ends of a tunnel still send has no end to wait for.
    if (stream.head.upgrade === undefined) this.#awaitRest(stream);
    else this.#stopRest(stream);
  }

  #awaitRest(stream: Stream): void {
    const rest = new UnwantedRest(stream, this, this.clock.monotonicMs());
    this.streams.open.set(rest.id, rest);
    this.deadlines.hasStreams();
  }

  /** The rest of a request is not wanted (RFC 9113 section 8.1). */
  #stopRest({ id }: Http2Stream): void {
    this.sender.control.reset(id, ERROR.noError);
    this.streams.wasReset(id, STATE.reset);
    this.connection.schedule();
  }

  #endRest(rest: UnwantedRest): void {
    this.#stopRest(rest);
    this.close(rest, 'complete');
  }

  // What the handlers of frames tell.

  /** A stream of the peer has begun. */
  open(stream: Stream): void {
    this.streams.open.set(stream.id, stream);
    this.deadlines.hasStreams();
    if (stream.state === STATE.open) this.flow.open(stream);
  }

  /** Whether there is no place for another request. The rest of an answered one makes place for it. */
  get isFull(): boolean {
    if (!this.streams.isFull(this.options.limits.maxConcurrentStreams)) return false;
    for (const stream of this.streams.open.values()) {
      if (!(stream instanceof UnwantedRest)) continue;
      this.#endRest(stream);
      return false;
    }
    return true;
  }

  /** Ends streams that took too long. */
  checkStreams(nowMs: number): void {
    const { stalledTimeoutMs, minSendBytesPerSecond } = this.options.limits;
    const minBytes = (stalledTimeoutMs / 1000) * minSendBytesPerSecond;
    for (const stream of [...this.streams.open.values()]) {
      if (stream instanceof UnwantedRest) {
        if (stream.isLate(nowMs)) this.#endRest(stream);
      } else if ((stream as Stream).isStalled(nowMs, stalledTimeoutMs, minBytes)) {
        this.reset(stream, ERROR.cancel, 'timed_out');
      }
    }
  }

  /** A stream lasts until its response has ended, and after that until its request has. */
  override received(stream: Http2Stream): void {
    if (stream instanceof UnwantedRest) this.close(stream, 'complete');
  }

  /** A peer that has its response does not need the rest either. */
  override resetByPeer(stream: Http2Stream, code: number): void {
    if (!(stream instanceof UnwantedRest)) {
      super.resetByPeer(stream, code);
      return;
    }
    this.streams.wasReset(stream.id, STATE.resetByPeer);
    this.close(stream, 'complete');
    this.count('closedStream');
  }

  /** Nothing here depends on what changed. */
  override settingsHaveChanged(): void {
    return undefined;
  }

  override pingIsAnswered(question: number): boolean {
    return question === PING.goAway && this.goneAway();
  }

  /** It asks for nothing: this end opens no streams. */
  override peerGoesAway(): void {
    return undefined;
  }

  /** The peer knows that it should open no more streams. Returns false if it was not asked. */
  goneAway(): boolean {
    const isAsked = this.drain.finish(this.sender.control, this.streams.last);
    if (isAsked) this.connection.schedule();
    return isAsked;
  }

  // How streams end.

  /**
   * Refuses a stream that was not handled. A response says so, or else a reset, after which the peer may repeat its request
   * (RFC 9113 section 8.7). The stream is closed at once.
   *
   * @param endsStream whether nothing of the request will follow
   */
  refuse(id: number, endsStream: boolean, response: BodilessRefusal | undefined): void {
    this.count('refused');
    const { control } = this.sender;
    if (response === undefined || !this.#respondAtOnce(id, response)) {
      control.reset(id, ERROR.refusedStream);
    } else if (!endsStream) control.reset(id, ERROR.noError);
    this.streams.wasReset(id, STATE.reset);
    this.reply();
  }

  #respondAtOnce(id: number, { status, fields }: BodilessRefusal): boolean {
    return this.sender.headAtOnce(id, status, [...fields, 'date', this.date()], true);
  }

  /** Frames that reset all streams that are open, and say that no other one was handled. */
  resets(lastStream: number): Buffer {
    const frames = new ControlFrames();
    // A connection begins with settings (RFC 9113 section 3.4), and those of this end may not have been written.
    frames.settings([]);
    for (const stream of this.streams.open.values()) {
      const code = stream instanceof UnwantedRest ? ERROR.noError : ERROR.internalError;
      if (stream.state !== STATE.closed) frames.reset(stream.id, code);
    }
    frames.goAway(lastStream);
    const bytes = Buffer.alloc(frames.length);
    frames.takeInto(bytes, 0);
    return bytes;
  }

  override closeAll(end: Exclude<End, 'complete'>): void {
    this.newRequests.stop();
    super.closeAll(end);
  }

  protected override hasClosed(): void {
    if (this.drain.isBegun) this.connection.schedule();
  }
}
