import type { Socket } from 'node:net';
import type { ConnectionGuard } from '../connection-guard.ts';
import type { End } from '../exchange.ts';
import type { ReadSocket } from '../sockets/read-socket.ts';
import { FrameReader } from './frame-reader.ts';
import type { Http2Options, ServerState } from './options.ts';
import { ERROR, type EndReason } from './protocol.ts';
import { Receiver } from './receiver.ts';
import type { RequestTurns } from './request-turns.ts';
import { Session } from './session.ts';

/** An HTTP/2 connection of a caller: its socket, the turns in which it reads and writes, and how it ends. */
export class Connection {
  readonly socket: Socket;
  readonly #options: Http2Options;
  readonly #session: Session;
  readonly #receiver: Receiver;
  readonly #reader: FrameReader;
  readonly #requestTurns: RequestTurns;
  readonly #ended: (reason: EndReason) => void;
  #state: 'open' | 'ending' | 'closed' = 'open';
  #inTurn = false;
  #isScheduled = false;
  readonly #flushLater = () => {
    this.#isScheduled = false;
    this.requestTurn();
  };

  /** @param ended called when the connection ends because of its peer */
  constructor(
    { socket, address, coversAuthority, readBy }: ReadSocket,
    options: Http2Options,
    server: ServerState,
    ended: (reason: EndReason) => void,
  ) {
    this.socket = socket;
    this.#options = options;
    this.#requestTurns = server.requestTurns;
    this.#ended = ended;
    this.#session = new Session({ socket, address, coversAuthority }, options, server, this);
    this.#receiver = new Receiver(this.#session);
    this.#reader = new FrameReader(this.#receiver.frame, true);
    this.#receiver.begin();
    this.schedule();
    readBy((bytes) => {
      this.#received(bytes);
    });
    // What the system has taken of responses is reported in the next turn: it is complete, although the peer leaves.
    socket.on('end', () => setImmediate(() => socket.destroy()));
    socket.on('drain', () => {
      this.guard.run(() => {
        this.#session.sender.flush();
      });
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#closed();
    });
  }

  get guard(): ConnectionGuard {
    return this.#session.guard;
  }

  /** How far the connection has come: the preface and settings do not count as a request. */
  get stage(): 'accepted' | 'request' {
    return this.#session.streams.last > 0 ? 'request' : 'accepted';
  }

  /** Whether a response has begun. */
  get isAnswered(): boolean {
    return this.#session.isAnswered;
  }

  #received(bytes: Buffer): void {
    if (this.#state !== 'open') return;
    try {
      this.#inTurn = true;
      const error = this.#reader.read(bytes);
      this.#receiver.endOfRead();
      if (error !== ERROR.noError) this.#session.fail(error);
      this.#turn();
    } catch (error) {
      this.#inTurn = false;
      this.guard.fail(error);
    }
  }

  /** Tells handlers of new requests, and writes what they and the others have sent. */
  #turn(): void {
    // Nothing that waits can leave, and nobody is told of more.
    if (this.socket.destroyed) return;
    const { streams, sender, drain } = this.#session;
    this.#inTurn = true;
    const { newCount } = streams;
    if (newCount > 0) {
      streams.dispatch(this.#requestTurns.take(newCount, this), this.#options.onExchange);
    }
    this.#inTurn = false;
    sender.flush();
    if (sender.control.length > 0) this.schedule();
    if (drain.closesWhenIdle) this.#endIfIdle();
  }

  /** Requests that were read may be handled now. */
  requestTurn(): void {
    this.guard.run(() => {
      this.#turn();
    });
  }

  /** Something is to be written at the end of the turn. */
  schedule(): void {
    if (this.#inTurn || this.#isScheduled || this.#state !== 'open') return;
    this.#isScheduled = true;
    setImmediate(this.#flushLater);
  }

  /** Ends the connection with an error (RFC 9113 section 5.4.1). The peer has a moment to read it. */
  fail(code: number, reason: EndReason): void {
    if (this.#state !== 'open') return;
    this.#ended(reason);
    this.#end(code, 'peer_left');
  }

  /** Sends GOAWAY, and closes the connection when the peer has read it, at the latest after a moment. */
  #end(code: number, end: Exclude<End, 'complete'>): void {
    const { streams, sender, drain, deadlines } = this.#session;
    this.#state = 'ending';
    this.#reader.isStopped = true;
    streams.stopDispatch();
    sender.control.goAway(Math.min(streams.last, drain.lastHandled), code);
    sender.flush();
    this.#session.closeAll(end);
    this.socket.end();
    deadlines.isEnding(this.#options.clock.monotonicMs());
  }

  /** Closes the connection when it has no stream. Until then requests are accepted. */
  drain(): void {
    this.#session.drain.begin();
    this.#endIfIdle();
  }

  /**
   * Asks the peer to open no more streams. Streams that were on their way when it reads this are still handled: the last
   * one is announced after a round trip (RFC 9113 section 6.8).
   */
  goAway(): void {
    const { drain, sender, deadlines } = this.#session;
    if (this.#state !== 'open' || !drain.announce(sender.control)) return;
    deadlines.isGoingAway(this.#options.clock.monotonicMs());
    this.schedule();
  }

  #endIfIdle(): void {
    if (this.#state !== 'open' || this.#session.streams.open.size > 0) return;
    this.#end(ERROR.noError, 'drained');
  }

  /** Called often; ends what took too long. */
  check(nowMs: number): void {
    const { limits } = this.#options;
    this.#session.lastFields.check(nowMs);
    const due = this.#session.deadlines.due(nowMs, limits);
    if (due === 'destroy') this.socket.destroy();
    if (this.#state !== 'open') return;
    if (due === 'idle') {
      this.#ended('HTTP2_IDLE');
      this.#end(ERROR.noError, 'timed_out');
    } else if (due === 'settings') this.fail(ERROR.settingsTimeout, 'HTTP2_TIMEOUT');
    else if (due === 'head') this.fail(ERROR.enhanceYourCalm, 'HTTP2_TIMEOUT');
    else if (due === 'going_away') this.#session.goneAway();
    const minBytes = (limits.stalledTimeoutMs / 1000) * limits.minSendBytesPerSecond;
    for (const stream of [...this.#session.streams.open.values()]) {
      if (stream.isStalled(nowMs, limits.stalledTimeoutMs, minBytes)) {
        this.#session.reset(stream, ERROR.cancel, 'timed_out');
      }
    }
  }

  /** Closes the connection now. */
  destroy(): void {
    this.guard.end('drained');
  }

  #closed(): void {
    this.#state = 'closed';
    this.#reader.isStopped = true;
    this.#session.closeAll(this.guard.endReason ?? 'peer_left');
    this.#session.flow.close();
  }
}
