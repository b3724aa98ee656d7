import { isLate } from '@gateway/http/sockets/connect';
import type {
  BodySource,
  ClientConnection,
  ClientHandler,
  ClientRequest,
  ClientStream,
  ExchangeFailure,
} from '@gateway/http/exchange';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import type { ResponseHead } from '@gateway/http/message/response-head';
import {
  answersConnectionAuth,
  authenticatesConnection,
} from '@gateway/shared/http/connection-auth';
import type { Timer } from '@gateway/shared/clock';
import type { TimeAccount } from '../request/time-account.ts';
import type { ResponseSink, UpstreamResponse } from '../request/upstream-response.ts';
import type { AttemptErrorName } from './attempt-end.ts';
import { IdleWatch, type WatchedExchange } from './idle-watch.ts';
import type { AttemptOwner, PooledAttempt } from './pooled-attempt.ts';
import { standingClock, type StandingClock } from './standing-clock.ts';
import type { AttemptHandler, AttemptTimes } from './upstream-client.ts';

/** One attempt: it sends a request, then passes on the response as it arrives. */
export class Attempt
  implements PooledAttempt, ClientHandler, UpstreamResponse, AttemptTimes, WatchedExchange
{
  connectionWaitMs = 0;
  status = 0;
  statusText = '';
  fields: readonly string[] = [];
  readonly #request: ClientRequest;
  readonly #handler: AttemptHandler;
  readonly #owner: AttemptOwner;
  #timer: Timer;
  /** undefined: no caller is awaited. */
  readonly #standing: StandingClock | undefined;
  readonly #timeoutMs: number;
  readonly #holdsKey: (() => boolean) | undefined;
  readonly #times: TimeAccount | undefined;
  /** When it began to wait for a connection; undefined if one was free. */
  #waitsSinceMs: number | undefined = undefined;
  /** Whether it waits, or has waited, until others need their connections no more. */
  #waitsForOthers = false;
  #connection: ClientConnection | undefined = undefined;
  /** undefined also while the connection begins to carry the request. */
  #stream: ClientStream | undefined = undefined;
  #state: 'waiting' | 'responding' | 'over' = 'waiting';
  #sink: ResponseSink | undefined = undefined;
  /** How long nothing may happen, ms. */
  readonly #idleMs: number;
  #sinkIsFull = false;
  /** When the sink took no more. */
  #fullSinceMs = 0;
  #idle: IdleWatch | undefined = undefined;

  /**
   * @param timeoutMs how long the head of the response may take, without the time in which the caller's body is awaited
   * @param holdsKey whether the request still holds its idempotency key; undefined if it has none
   */
  constructor(
    request: ClientRequest,
    timeoutMs: number,
    handler: AttemptHandler,
    owner: AttemptOwner,
    holdsKey?: () => boolean,
    times?: TimeAccount,
  ) {
    this.#request = request;
    this.#handler = handler;
    this.#owner = owner;
    this.#timeoutMs = timeoutMs;
    this.#idleMs = handler.bodyIdleTimeoutMs ?? owner.idleTimeoutMs;
    this.#holdsKey = holdsKey;
    this.#times = times;
    this.#standing = request.body === null ? undefined : standingClock(times, request);
    this.#timer = this.#setTimer(timeoutMs);
  }

  get upstreamMs(): number {
    // Once a stream has a connection, it may be silent for so long, and no timeout bounds it.
    return this.#idle === undefined ? this.#timeoutMs - this.connectionWaitMs : this.#idleMs;
  }

  get wanted(): boolean {
    return this.#state === 'waiting';
  }

  get authenticatesConnection(): boolean {
    return authenticatesConnection(this.#request.fields);
  }

  waits(forOthers: boolean): void {
    this.#waitsSinceMs = this.#owner.clock.monotonicMs();
    this.#waitsForOthers = forOthers;
  }

  start(connection: ClientConnection): boolean {
    const hasWaited = this.#waitsSinceMs !== undefined;
    this.#endWait();
    if (this.#holdsKey?.() === false) {
      this.#fail('key_lease_ended');
      return false;
    }
    this.#connection = connection;
    if (hasWaited) this.#times?.enter('upstream', this.#owner.clock.monotonicMs());
    else this.#times?.enterAtOnce('upstream');
    const { stream } = this.#handler;
    if (stream !== undefined) {
      this.#timer.cancel();
      this.#idle = new IdleWatch(this, this.#owner, stream);
    }
    this.#stream = connection.carry(this.#request, this);
    if (this.authenticatesConnection) connection.retire();
    return true;
  }

  refused(name: AttemptErrorName): void {
    this.#fail(name);
  }

  head(head: ResponseHead, last: boolean): void {
    // Whoever is authenticated on a connection must be the only one whose requests it carries.
    if (answersConnectionAuth(head.fields)) this.#connection?.retire();
    this.status = head.status;
    this.statusText = head.statusText;
    this.fields = head.fields;
    this.#state = 'responding';
    this.#timer.cancel();
    if (last) this.#over();
    const sink = this.#handler.responded(this, last);
    if (last) return;
    if (sink === undefined) this.cancel();
    else this.#sink = sink;
  }

  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    if (this.#state !== 'responding') return;
    const sink = this.#sink;
    if (last) {
      this.#over();
      this.#sink = undefined;
    } else this.#idle?.progressed();
    try {
      sink?.data(bytes, last, trailers);
    } catch (error) {
      // The sink has not got its end.
      if (last) this.#sink = sink;
      throw error;
    }
  }

  delivered(): void {
    if (this.#state !== 'responding') return;
    if (this.#idle !== undefined) this.#idle.progressed();
    // A tunnel has its own idle timeout, for both directions together.
    else if (this.status !== 101) this.#idle = new IdleWatch(this, this.#owner);
    this.#sink?.delivered();
  }

  failed(why: ExchangeFailure, mayHaveReachedServer: boolean): void {
    if (this.#state === 'waiting') {
      this.#fail(why === 'server_cancelled' ? 'reset' : why, mayHaveReachedServer);
    } else {
      if (this.#state === 'responding') this.#over();
      this.#break(why);
    }
  }

  /** Tells the sink that the response has ended early, also if its own exception at the end was the reason. */
  #break(why: ExchangeFailure): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.broken(why);
  }

  pause(): void {
    if (!this.#sinkIsFull) this.#fullSinceMs = this.#owner.clock.monotonicMs();
    this.#sinkIsFull = true;
    if (this.#state === 'responding') this.#stream?.pause();
  }

  resume(): void {
    this.#sinkIsFull = false;
    this.#idle?.progressed();
    if (this.#state === 'responding') this.#stream?.resume();
  }

  sendBytes(source: BodySource): void {
    if (this.#state === 'responding') this.#stream?.sendBytes(source);
  }

  cancel(): void {
    if (this.#state === 'waiting') this.#fail('cancelled');
    else if (this.#state === 'responding') {
      this.#over();
      this.#sink = undefined;
      this.#stream?.cancel();
    } else if (this.status === 101) this.#stream?.cancel(); // The upstream has ended only its half of a tunnel.
  }

  /** What waits for a sink is memory of this data plane, so no route allows more time for it. */
  leftMs(progressMs: number, nowMs: number): number {
    if (this.#sinkIsFull) return this.#fullSinceMs + this.#owner.idleTimeoutMs - nowMs;
    return progressMs + this.#idleMs - nowMs;
  }

  silent(): void {
    // Of a stream whose caller is awaited too, the upstream is not to blame.
    const awaitsCaller = this.#handler.stream !== undefined && this.#times?.isReceiving === true;
    if (this.#state === 'waiting')
      this.#failLater(awaitsCaller ? 'stream_idle' : 'attempt_timeout');
    else if (this.#sinkIsFull || awaitsCaller) this.#tellSinkOfStall();
    else {
      const sink = this.#sink;
      this.cancel();
      sink?.broken('silent');
    }
  }

  /** The upstream waits for the sink, so it has not broken off. The sink cancels this, or reads on, within the same time. */
  #tellSinkOfStall(): void {
    this.#sinkIsFull = false;
    this.#idle?.again();
    this.#sink?.stalled();
  }

  /**
   * If the event loop was blocked, timers run before the bytes that have arrived are read. A request that was sent gets
   * one more turn of the event loop, so that an upstream is not blamed for a pause of the gateway.
   */
  #expire(): void {
    const nowMs = this.#owner.clock.monotonicMs();
    const goOn = (leftMs: number) => {
      if (this.wanted) this.#timer = this.#setTimer(leftMs);
    };
    if (this.#connection === undefined) this.#fail(this.#unsentError(nowMs));
    else if (this.#standing?.hasTimeLeft(nowMs, goOn) !== true) this.#failLater('attempt_timeout');
  }

  #setTimer(delayMs: number): Timer {
    return this.#owner.clock.setTimer(delayMs, () => {
      this.run(() => {
        this.#expire();
      });
    });
  }

  #failLater(name: AttemptErrorName): void {
    setImmediate(() => {
      this.run(() => {
        this.#fail(name);
      });
    });
  }

  /** Why nothing was sent in all the time. Only a connection that did not open on time is the upstream's fault. */
  #unsentError(nowMs: number): AttemptErrorName {
    if (this.#waitsForOthers) return 'max_connections';
    const late = isLate((this.#waitsSinceMs ?? nowMs) + this.#timeoutMs, nowMs);
    return late ? 'gateway_paused' : 'attempt_timeout';
  }

  #endWait(): void {
    if (!this.#waitsForOthers || this.#waitsSinceMs === undefined) return;
    this.connectionWaitMs = this.#owner.clock.monotonicMs() - this.#waitsSinceMs;
    this.#waitsSinceMs = undefined;
  }

  /** Calls what no event of the connection calls. An exception ends the exchange. */
  run(run: () => void): void {
    const carrier = this.#stream ?? this.#connection;
    if (carrier !== undefined) carrier.guard.run(run);
    else {
      try {
        run();
      } catch (error) {
        this.#owner.internalError(error);
      }
    }
  }

  #fail(name: AttemptErrorName, sent = this.#connection !== undefined): void {
    if (this.#state !== 'waiting') return;
    this.#endWait();
    this.#over();
    this.#handler.failed({ name, sent }, this);
    this.#stream?.cancel();
  }

  #over(): void {
    this.#state = 'over';
    this.#timer.cancel();
    this.#idle?.stop();
    this.#owner.ended(this, this.#connection !== undefined);
  }
}
