import type { Writable } from 'node:stream';
import type { Clock, Timer } from '@gateway/shared/clock';
import {
  answersConnectionAuth,
  authenticatesConnection,
} from '@gateway/shared/http/connection-auth';
import type { BodyBytes } from '@gateway/http1/message/body-bytes';
import { toStayValid } from '@gateway/http1/message/read-buffer';
import type { ExchangeFailure, ClientConnection } from '@gateway/http1/client/connection';
import type { PooledExchange } from './connection-pool.ts';
import type { ResponseHead } from '@gateway/http1/message/response-head';
import type { BodySink, UpstreamResponse, WholeBody } from '../request/upstream-response.ts';
import { isLate } from '@gateway/http1/client/connect';
import type { TimeAccount } from '../request/time-account.ts';
import type { ClientRequest } from '@gateway/http1/exchange';
import type { AttemptEnd, AttemptErrorName } from './attempt-end.ts';
import type { Attempt } from './upstream-client.ts';

/** What an exchange needs of those who made it; all exchanges with one upstream share it. */
export interface ExchangeOwner {
  readonly clock: Clock;
  /** How long the body may make no progress in either direction, ms. */
  readonly idleTimeoutMs: number;
  /** Called once when the exchange has ended, in whatever way; `started`: whether it had a connection. Throws nothing. */
  ended(exchange: Exchange, started: boolean): void;
  /** An exception in an exchange that has no connection. */
  internalError(error: unknown): void;
}

/** A chunk up to this size is kept as text, because a buffer of its own takes some hundred bytes more. */
const TEXT_BYTES = 1024;
/** Never changed. */
const NOTHING: BodyBytes[] = [];
const CANCELLED = new Error('the gateway cancelled the attempt');
const IDLE = new Error('the body made no progress within the idle timeout');

/**
 * One attempt: it sends a request, then receives the response.
 *
 * The head, the body and the end of a small response arrive in one read, before any promise continues. The body is
 * therefore held here until a sink is attached. From the second chunk on the connection is paused, so that no more than
 * two reads are held.
 */
export class Exchange implements Attempt, PooledExchange, UpstreamResponse {
  readonly request: ClientRequest;
  readonly outcome: Promise<AttemptEnd<UpstreamResponse>>;
  connectionWaitMs = 0;
  status = 0;
  statusText = '';
  fields: readonly string[] = [];

  readonly #owner: ExchangeOwner;
  readonly #timer: Timer;
  readonly #timeoutMs: number;
  readonly #holdsKey: (() => boolean) | undefined;
  readonly #times: TimeAccount | undefined;
  /** When it began to wait for a connection; undefined if one was free. */
  #waitsSinceMs: number | undefined = undefined;
  /** Whether it waits, or has waited, until others need their connections no more. */
  #waitsForOthers = false;
  /** When a request whose body streams was sent as a whole. */
  #sentMs: number | undefined = undefined;
  #settle!: (end: AttemptEnd<UpstreamResponse>) => void;
  #connection: ClientConnection | undefined = undefined;
  #state: 'waiting' | 'responding' | 'over' = 'waiting';
  #complete = false;
  #brokenBy: Error | undefined = undefined;
  #held = NOTHING;
  /** Whether what is held is copied before the next read. */
  #isKeptLater = false;
  #sink: BodySink | undefined = undefined;
  /** Whether the sink has asked to wait. */
  #sinkIsFull = false;
  #idle: Timer | undefined = undefined;
  #progressMs = 0;

  /**
   * @param timeoutMs how long the head of the response may take
   * @param holdsKey whether the request still holds its idempotency key; undefined if it has none
   * @param times the account of time of the request
   */
  constructor(
    request: ClientRequest,
    timeoutMs: number,
    owner: ExchangeOwner,
    holdsKey?: () => boolean,
    times?: TimeAccount,
  ) {
    this.request = request;
    this.#owner = owner;
    this.#timeoutMs = timeoutMs;
    this.#holdsKey = holdsKey;
    this.#times = times;
    this.outcome = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#timer = owner.clock.setTimer(timeoutMs, () => {
      this.#run(() => {
        this.#expire();
      });
    });
  }

  get upgraded(): Writable | undefined {
    return this.status === 101 ? this.#connection?.writable : undefined;
  }

  get upstreamMs(): number {
    const streams = isStreamed(this.request) && this.#connection !== undefined;
    if (!streams) return this.#timeoutMs - this.connectionWaitMs;
    return this.#sentMs === undefined ? 0 : this.#owner.clock.monotonicMs() - this.#sentMs;
  }

  get wanted(): boolean {
    return this.#state === 'waiting';
  }

  waits(forOthers: boolean): void {
    this.#waitsSinceMs = this.#owner.clock.monotonicMs();
    this.#waitsForOthers = forOthers;
  }

  started(connection: ClientConnection): boolean {
    const hasWaited = this.#waitsSinceMs !== undefined;
    this.#endWait();
    if (this.#holdsKey?.() === false) {
      this.#fail('key_lease_ended');
      return false;
    }
    this.#connection = connection;
    if (hasWaited) this.#times?.enter('upstream', this.#owner.clock.monotonicMs());
    else this.#times?.enterAtOnce('upstream');
    if (authenticatesConnection(this.request.fields)) connection.retiresAtMs = 0;
    return true;
  }

  refused(name: AttemptErrorName): void {
    this.#fail(name);
  }

  requestSent(): void {
    if (isStreamed(this.request)) this.#sentMs = this.#owner.clock.monotonicMs();
  }

  head(head: ResponseHead): void {
    this.#timer.cancel();
    // Whoever is authenticated on a connection must be the only one whose requests it carries.
    if (this.#connection !== undefined && answersConnectionAuth(head.fields)) {
      this.#connection.retiresAtMs = 0;
    }
    this.#state = 'responding';
    this.status = head.status;
    this.statusText = head.statusText;
    this.fields = head.fields;
    this.#settle({ response: this });
  }

  body(bytes: BodyBytes): void {
    if (this.#state !== 'responding') return;
    if (this.#sink !== undefined) {
      this.#progressMs = this.#owner.clock.monotonicMs();
      this.#sinkIsFull = !this.#sink.data(bytes);
      if (this.#sinkIsFull) this.#connection?.pause();
      return;
    }
    if (this.#held.length > 0) this.#connection?.pause();
    if (typeof bytes !== 'string' && !this.#isKeptLater) this.#keepLater();
    if (this.#held.length === 0) this.#held = [bytes];
    else this.#held.push(bytes);
  }

  end(): void {
    if (this.#state !== 'responding') return;
    this.#complete = true;
    this.#over();
    this.#sink?.end();
    this.#sink = undefined;
  }

  failed(reason: ExchangeFailure, error: Error): void {
    if (this.#state === 'waiting') this.#fail(reason);
    else {
      if (this.#state === 'responding') this.#over();
      this.#break(error);
    }
  }

  /** Tells the sink that the response has ended early, also if its own exception at the end was the reason. */
  #break(error: Error): void {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#brokenBy = error;
    sink?.error(error);
  }

  attach(sink: BodySink): WholeBody | undefined {
    const held = this.#held;
    this.#held = NOTHING;
    if (this.#complete) return { chunks: held };
    let more = true;
    for (const chunk of held) more = sink.data(chunk);
    if (this.#state === 'over') {
      sink.error(this.#brokenBy ?? CANCELLED);
      return undefined;
    }
    this.#sink = sink;
    this.#sinkIsFull = !more;
    if (more) this.#connection?.resume();
    else this.#connection?.pause();
    this.#progressMs = this.#owner.clock.monotonicMs();
    // A tunnel has its own idle timeout, for both directions together.
    if (this.status !== 101) this.#watchProgress(this.#owner.idleTimeoutMs);
    return undefined;
  }

  resume(): void {
    this.#sinkIsFull = false;
    this.#progressMs = this.#owner.clock.monotonicMs();
    if (this.#state === 'responding') this.#connection?.resume();
  }

  cancel(): void {
    if (this.#state === 'waiting') this.#fail('cancelled');
    else if (this.#state === 'responding') {
      this.#over();
      this.#connection?.destroy();
    }
    this.#held = NOTHING;
  }

  /**
   * Copies the held bytes before the next read, unless a sink is attached by then. Usually the code that awaits the
   * outcome attaches one first, and nothing is copied. process.nextTick, called from a microtask, runs after all pending
   * microtasks.
   */
  #keepLater(): void {
    this.#isKeptLater = true;
    queueMicrotask(() => {
      process.nextTick(() => {
        this.#run(() => {
          this.#isKeptLater = false;
          if (this.#held.length > 0) this.#held = this.#held.map(heldBytes);
        });
      });
    });
  }

  #watchProgress(delayMs: number): void {
    const { clock, idleTimeoutMs } = this.#owner;
    this.#idle = clock.setTimer(delayMs, () => {
      this.#run(() => {
        const leftMs = this.#progressMs + idleTimeoutMs - clock.monotonicMs();
        if (leftMs > 0) {
          this.#watchProgress(leftMs);
          return;
        }
        if (this.#sinkIsFull) this.#tellSinkOfStall();
        else {
          this.cancel();
          this.#break(IDLE);
        }
      });
    });
  }

  /** The upstream waits for the sink, so it has not broken off. The sink cancels this, or reads on, within the same time. */
  #tellSinkOfStall(): void {
    this.#sinkIsFull = false;
    this.#progressMs = this.#owner.clock.monotonicMs();
    this.#watchProgress(this.#owner.idleTimeoutMs);
    this.#sink?.stalled();
  }

  /**
   * If the event loop was blocked, timers run before the bytes that have arrived are read. A request that was sent gets
   * one more turn of the event loop, so that an upstream is not blamed for a pause of the gateway.
   */
  #expire(): void {
    if (this.#connection === undefined) this.#fail(this.#unsentError());
    else {
      setImmediate(() => {
        this.#run(() => {
          this.#fail('attempt_timeout');
        });
      });
    }
  }

  /** Why nothing was sent in all the time. Only a connection that did not open on time is the upstream's fault. */
  #unsentError(): AttemptErrorName {
    if (this.#waitsForOthers) return 'max_connections';
    const nowMs = this.#owner.clock.monotonicMs();
    const late = isLate((this.#waitsSinceMs ?? nowMs) + this.#timeoutMs, nowMs);
    return late ? 'gateway_paused' : 'attempt_timeout';
  }

  #endWait(): void {
    if (!this.#waitsForOthers || this.#waitsSinceMs === undefined) return;
    this.connectionWaitMs = this.#owner.clock.monotonicMs() - this.#waitsSinceMs;
    this.#waitsSinceMs = undefined;
  }

  /** Calls what no event of the connection calls. An exception ends the connection, and so the exchange. */
  #run(run: () => void): void {
    const connection = this.#connection;
    if (connection !== undefined) connection.guard.run(run);
    else {
      try {
        run();
      } catch (error) {
        this.#owner.internalError(error);
      }
    }
  }

  #fail(name: AttemptErrorName): void {
    if (this.#state !== 'waiting') return;
    this.#endWait();
    this.#over();
    this.#settle({ error: { name, sent: this.#connection !== undefined } });
    this.#connection?.destroy();
  }

  #over(): void {
    this.#state = 'over';
    this.#timer.cancel();
    this.#idle?.cancel();
    this.#owner.ended(this, this.#connection !== undefined);
  }
}

function isStreamed({ body }: ClientRequest): boolean {
  return body !== null && typeof body !== 'string' && !Buffer.isBuffer(body);
}

/** Bytes that stay valid when the connection reads into the same buffer again. */
function heldBytes(bytes: BodyBytes): BodyBytes {
  const isSmall = typeof bytes !== 'string' && bytes.length <= TEXT_BYTES;
  return isSmall ? bytes.toString('latin1') : toStayValid(bytes);
}
