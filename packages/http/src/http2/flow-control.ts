import type { Clock } from '../clock.ts';
import type { ControlFrames } from './frame-writer.ts';
import { FIRST_WINDOW, PING, SETTING } from './protocol.ts';
import { STATE } from './stream-state.ts';
import type { Http2Stream } from './http2-stream.ts';
import type { WindowBudget } from './window-budget.ts';
import { ConnectionWindow, ReceiveWindow } from './windows.ts';

/**
 * What bounds the bytes that wait for their readers. `connection`: its window, which is that of one caller. `stream`: the
 * windows of the streams alone. The window of the connection is given back when bytes arrive, so that readers of one stream,
 * however slow, never stop those of another caller.
 */
export type WaitingBound = 'connection' | 'stream';

/**
 * Tells the peer how much it may send: windows of streams and of the connection (RFC 9113 section 5.2), and pings, which
 * find out, like the settings, whether the peer uses its window up within a round trip.
 */
export class FlowControl {
  readonly #control: ControlFrames;
  readonly #clock: Clock;
  readonly #window: ConnectionWindow;
  readonly #isShared: boolean;
  /** What the windows of open streams have beyond FIRST_WINDOW, if they alone bound what waits. */
  #lentBytes = 0;

  constructor(control: ControlFrames, clock: Clock, budget: WindowBudget, bound: WaitingBound) {
    this.#isShared = bound === 'stream';
    this.#control = control;
    this.#clock = clock;
    this.#window = new ConnectionWindow(budget, clock.monotonicMs());
  }

  /** What the first settings say of windows. */
  get setting(): readonly [number, number] {
    return [SETTING.initialWindowSize, this.#firstOfStream];
  }

  get #firstOfStream(): number {
    return this.#isShared ? FIRST_WINDOW : this.#window.firstOfStream;
  }

  /** Enlarges the window of the connection, after the first settings. */
  begin(): void {
    this.#enlarge(0, this.#window.firstIncrement);
  }

  /** A stream with a body has begun. `stream.missingBytes` is the announced length. */
  open(stream: Http2Stream): void {
    stream.window = new ReceiveWindow(this.#firstOfStream);
    if (stream.missingBytes === undefined) return;
    this.#window.announce(stream.missingBytes);
    // The peer may send all of it at once, as far as memory allows.
    this.read(stream, 0);
  }

  /** A DATA frame has arrived. Returns false if it exceeds the window of the connection. */
  receive(bytes: number): boolean {
    const fits = this.#window.receive(bytes);
    if (this.#isShared) this.#enlarge(0, this.#window.read(bytes));
    return fits;
  }

  /** A stream is closed. */
  closed({ window }: Http2Stream): void {
    if (this.#isShared && window !== undefined) this.#lentBytes -= window.size - FIRST_WINDOW;
  }

  /** So much of the announced length of a body has arrived, or will not. */
  expectLess(bytes: number): void {
    this.#window.announce(-bytes);
  }

  /** Bytes of a stream were read, or dropped. undefined: it is not open. */
  read(stream: Http2Stream | undefined, bytes: number): void {
    this.#enlarge(0, this.#window.read(this.#isShared ? 0 : bytes));
    const isReceiving = stream?.state === STATE.open || stream?.state === STATE.halfClosedLocal;
    if (!isReceiving || stream.isClosed || stream.isUnwanted) return;
    const { window } = stream;
    if (window === undefined) return;
    const { size } = window;
    this.#enlarge(stream.id, window.read(bytes, this.#targetOf(window, stream.missingBytes)));
    if (this.#isShared) this.#lentBytes += window.size - size;
    if (this.#window.startsRoundTrip(stream.missingBytes, this.#clock.monotonicMs())) {
      this.#control.ping(PING.roundTrip);
    }
  }

  #targetOf({ size }: ReceiveWindow, missingBytes: number | undefined): number {
    const target = this.#window.targetOfStream(missingBytes);
    // All together have no more than the memory that the connection has.
    return this.#isShared
      ? Math.min(target, size + Math.max(0, this.#window.size - this.#lentBytes))
      : target;
  }

  #enlarge(id: number, increment: number): void {
    if (increment > 0) this.#control.windowUpdate(id, increment);
  }

  /**
   * The settings are acknowledged, or the ping of a round trip is answered: bodies may get larger windows at once. Returns
   * false if neither was sent.
   */
  roundTripHasEnded(streams: Iterable<Http2Stream>): boolean {
    if (!this.#window.roundTripHasEnded(this.#clock.monotonicMs())) return false;
    for (const stream of streams) this.read(stream, 0);
    return true;
  }

  /** No stream is open. */
  isIdle(): void {
    this.#window.isIdle();
  }

  close(): void {
    this.#window.close();
  }
}
