import type { End } from '../exchange.ts';
import type { ReadSocket } from '../sockets/read-socket.ts';
import { Bodies } from './bodies.ts';
import { Http2Connection } from './http2-connection.ts';
import type { Http2Options, ServerState } from './options.ts';
import { ERROR, type EndReason } from './protocol.ts';
import { Receiver } from './receiver.ts';
import type { RequestTurns } from './request-turns.ts';
import { Requests } from './requests.ts';
import { Session, type ServerSessionEvents } from './session.ts';

/** An HTTP/2 connection of a caller. */
export class Connection extends Http2Connection implements ServerSessionEvents {
  protected override readonly session: Session;
  protected override readonly receiver: Receiver;
  readonly #options: Http2Options;
  readonly #requestTurns: RequestTurns;
  readonly #ended: (reason: EndReason) => void;

  /** @param ended called when the connection ends because of its peer */
  constructor(
    { socket, address, coversAuthority, readBy }: ReadSocket,
    options: Http2Options,
    server: ServerState,
    ended: (reason: EndReason) => void,
  ) {
    super(socket, options.clock);
    this.#options = options;
    this.#requestTurns = server.requestTurns;
    this.#ended = ended;
    this.session = new Session({ socket, address, coversAuthority }, options, server, this);
    const bodies = new Bodies(this.session);
    this.receiver = new Receiver(this.session, bodies, new Requests(this.session, bodies).block);
    this.begin(readBy);
  }

  /** How far the connection has come: the preface and settings do not count as a request. */
  get stage(): 'accepted' | 'request' {
    return this.session.streams.last > 0 ? 'request' : 'accepted';
  }

  /** Whether a response has begun. */
  get isAnswered(): boolean {
    return this.session.isAnswered;
  }

  /** Tells handlers of new requests. */
  protected override beforeFlush(): void {
    const { newRequests } = this.session;
    const { count } = newRequests;
    if (count > 0)
      newRequests.dispatch(this.#requestTurns.take(count, this), this.#options.onExchange);
  }

  /** Requests that were read may be handled now. */
  requestTurn(): void {
    this.runTurn();
  }

  protected override endOf(): 'peer_left' {
    return 'peer_left';
  }

  protected override reportEnd(reason: EndReason): void {
    this.#ended(reason);
  }

  protected override get closesWhenIdle(): boolean {
    return this.session.drain.closesWhenIdle;
  }

  protected override get lastStream(): number {
    return Math.min(this.session.streams.last, this.session.drain.lastHandled);
  }

  protected override end(code: number, end: Exclude<End, 'complete'>): void {
    this.session.newRequests.stop();
    super.end(code, end);
  }

  /** Closes the connection when it has no stream. Until then requests are accepted. */
  drain(): void {
    this.session.drain.begin();
    this.endIfIdle();
  }

  /**
   * Asks the peer to open no more streams. Streams that were on their way when it reads this are still handled: the last
   * one is announced after a round trip (RFC 9113 section 6.8).
   */
  goAway(): void {
    const { drain, sender, deadlines } = this.session;
    if (this.state !== 'open' || !drain.announce(sender.control)) return;
    deadlines.isGoingAway(this.clock.monotonicMs());
    this.schedule();
  }

  /** Called often; ends what took too long. */
  check(nowMs: number): void {
    const { limits } = this.#options;
    const { session } = this;
    session.lastFields.check(nowMs);
    const due = session.deadlines.due(nowMs, limits);
    if (due === 'destroy') this.socket.destroy();
    if (this.state !== 'open') return;
    if (due === 'idle') {
      this.#ended('HTTP2_IDLE');
      this.end(ERROR.noError, 'timed_out');
    } else if (due === 'settings') this.fail(ERROR.settingsTimeout, 'HTTP2_TIMEOUT');
    else if (due === 'head') this.fail(ERROR.enhanceYourCalm, 'HTTP2_TIMEOUT');
    else if (due === 'going_away') session.goneAway();
    session.checkStreams(nowMs);
  }

  /** Closes the connection now. */
  destroy(): void {
    this.guard.end('drained');
  }

  /**
   * Resets the streams, and closes the socket: of a connection that is lost gRPC clients make UNAVAILABLE, which asks for a
   * repeat of what may have been carried out. After an exception what waits to be written may be incomplete, so the resets
   * do not follow it.
   */
  breakOff(): void {
    const { session, socket } = this;
    if (this.state === 'open' && session.hasStreams && socket.writable) {
      socket.write(session.resets(this.lastStream));
    }
    socket.destroy();
  }
}
