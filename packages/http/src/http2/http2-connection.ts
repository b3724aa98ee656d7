import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { ConnectionGuard } from '../connection-guard.ts';
import type { End } from '../exchange.ts';
import type { ReadSocket } from '../sockets/read-socket.ts';
import { FrameReader } from './frame-reader.ts';
import type { Http2Session, SessionEvents } from './http2-session.ts';
import { ERROR, type EndReason } from './protocol.ts';
import type { Receiver } from './receiver.ts';

/** A connection at either end: its socket, the turns in which it reads and writes, and how it ends. */
export abstract class Http2Connection implements SessionEvents {
  readonly socket: Socket;
  protected readonly clock: Clock;
  protected state: 'open' | 'ending' | 'closed' = 'open';
  protected abstract readonly session: Http2Session;
  protected abstract readonly receiver: Receiver;
  protected receivedBytes = 0;
  #reader: FrameReader | undefined = undefined;
  #inTurn = false;
  #isScheduled = false;
  readonly #flushLater = () => {
    this.#isScheduled = false;
    this.runTurn();
  };

  constructor(socket: Socket, clock: Clock) {
    this.socket = socket;
    this.clock = clock;
  }

  /** The connection is about to fail: what has just arrived breaks the protocol. */
  protected beforeFail?(bytes: Buffer): void;
  /** Before the frames that became ready in a turn are written. */
  protected abstract beforeFlush(): void;
  /** Whether it closes when it has no stream. */
  protected abstract get closesWhenIdle(): boolean;
  /** The last stream of the peer that was handled. */
  protected abstract get lastStream(): number;
  /** How the streams end when the connection does for this reason. */
  protected abstract endOf(reason: EndReason): Exclude<End, 'complete'>;
  /** The connection ends because of its peer. */
  protected abstract reportEnd(reason: EndReason): void;

  /** Sends settings, and starts to read. Called once, when the session is there. */
  protected begin(readBy: ReadSocket['readBy']): void {
    const { socket } = this;
    this.#reader = new FrameReader(this.receiver.frame, !this.session.peerIsServer);
    this.receiver.begin();
    this.schedule();
    readBy((bytes) => {
      this.#received(bytes);
    });
    // What the system has taken of messages is reported in the next turn: they are complete, although the peer leaves.
    socket.on('end', () => setImmediate(() => socket.destroy()));
    socket.on('drain', () => {
      this.guard.run(() => {
        this.session.sender.flush();
      });
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.guard.run(() => {
        this.hasClosed();
      });
    });
  }

  get guard(): ConnectionGuard {
    return this.session.guard;
  }

  #received(bytes: Buffer): void {
    if (this.state !== 'open') return;
    try {
      this.#inTurn = true;
      this.receivedBytes += bytes.length;
      const error = this.#reader?.read(bytes) ?? ERROR.noError;
      this.receiver.endOfRead();
      if (error !== ERROR.noError) {
        this.beforeFail?.(bytes);
        this.session.fail(error);
      }
      this.#turn();
    } catch (error) {
      this.#inTurn = false;
      this.guard.fail(error);
    }
  }

  /** Writes what streams have sent. */
  #turn(): void {
    // Nothing that waits can leave, and nobody is told of more.
    if (this.socket.destroyed) return;
    const { sender } = this.session;
    this.#inTurn = true;
    this.beforeFlush();
    this.#inTurn = false;
    sender.flush();
    if (sender.control.length > 0) this.schedule();
    if (this.closesWhenIdle) this.endIfIdle();
  }

  protected runTurn(): void {
    this.guard.run(() => {
      this.#turn();
    });
  }

  /** Something is to be written at the end of the turn. */
  schedule(): void {
    if (this.#inTurn || this.#isScheduled || this.state !== 'open') return;
    this.#isScheduled = true;
    setImmediate(this.#flushLater);
  }

  /** Ends the connection with an error (RFC 9113 section 5.4.1). The peer has a moment to read it. */
  fail(code: number, reason: EndReason): void {
    if (this.state !== 'open') return;
    this.reportEnd(reason);
    this.end(code, this.endOf(reason));
  }

  /** Sends GOAWAY, and closes the connection when the peer has read it, at the latest after a moment. */
  protected end(code: number, end: Exclude<End, 'complete'>): void {
    const { sender, deadlines } = this.session;
    this.state = 'ending';
    this.stopReading();
    sender.control.goAway(this.lastStream, code);
    sender.flush();
    this.session.closeAll(end);
    this.socket.end();
    deadlines.isEnding(this.clock.monotonicMs());
  }

  protected endIfIdle(): void {
    if (this.state !== 'open' || this.session.hasStreams) return;
    this.end(ERROR.noError, 'drained');
  }

  protected stopReading(): void {
    if (this.#reader !== undefined) this.#reader.isStopped = true;
  }

  /** The socket is closed. */
  protected hasClosed(): void {
    this.state = 'closed';
    this.stopReading();
    this.session.closeAll(this.guard.endReason ?? 'peer_left');
    this.session.flow.close();
  }
}
