import type { Writable } from 'node:stream';
import type { Clock, Timer } from '@gateway/shared/clock';
import type { BodyBytes } from '@gateway/http1/message/body-bytes';
import type { ExchangeFailure, ClientConnection } from '@gateway/http1/client/connection';
import type { PooledExchange } from './connection-pool.ts';
import type { ResponseHead } from '@gateway/http1/message/response-head';
import type { BodySink, UpstreamResponse, WholeBody } from '../request/upstream-response.ts';
import type { ClientRequest } from '@gateway/http1/client/request-writer';
import type { AttemptError, AttemptOutcome } from './port.ts';

export interface ExchangeOptions {
  readonly request: ClientRequest;
  readonly clock: Clock;
  /** For the head of the response. */
  readonly timeoutMs: number;
  /** For the body to make no progress in either direction. */
  readonly idleTimeoutMs: number;
  /** The head has arrived, or the attempt failed. */
  readonly settle: (outcome: AttemptOutcome) => void;
  /** The exchange is over, whichever way; called once. */
  readonly done: () => void;
}

/** Bytes up to this number are kept as text, which joins the head of the response in one write. */
const TEXT_BYTES = 16 * 1024;
const GIVEN_UP = new Error('the gateway gave up on the attempt');
const IDLE = new Error('the body made no progress within the idle time-out');

/**
 * One attempt: a request on its way out, then the response on its way in.
 *
 * The head, the body and the end of a small response come in one read, before any promise has run on.
 * So what comes waits here until the response is attached; the connection is paused from the second
 * read on, so that no more waits than two reads give.
 */
export class Exchange implements PooledExchange, UpstreamResponse {
  readonly request: ClientRequest;
  status = 0;
  statusText = '';
  fields: readonly string[] = [];

  readonly #options: ExchangeOptions;
  readonly #timer: Timer;
  #connection: ClientConnection | undefined = undefined;
  #state: 'waiting' | 'responding' | 'over' = 'waiting';
  #complete = false;
  #brokenBy: Error | undefined = undefined;
  #held: BodyBytes[] = [];
  #sink: BodySink | undefined = undefined;
  #idle: Timer | undefined = undefined;
  #progressMs = 0;

  constructor(options: ExchangeOptions) {
    this.request = options.request;
    this.#options = options;
    this.#timer = options.clock.setTimer(options.timeoutMs, () => this.#expire());
  }

  get upgraded(): Writable | undefined {
    return this.status === 101 ? this.#connection?.writable : undefined;
  }

  get wanted(): boolean {
    return this.#state === 'waiting';
  }

  started(connection: ClientConnection): void {
    this.#connection = connection;
  }

  refused(name: AttemptError['name']): void {
    this.#fail(name);
  }

  head(head: ResponseHead): void {
    this.#timer.cancel();
    this.#state = 'responding';
    this.status = head.status;
    this.statusText = head.statusText;
    this.fields = head.fields;
    this.#options.settle({ response: this });
  }

  body(bytes: BodyBytes): void {
    if (this.#state !== 'responding') return;
    if (this.#sink !== undefined) {
      this.#progressMs = this.#options.clock.monotonicMs();
      if (!this.#sink.data(kept(bytes))) this.#connection?.pause();
      return;
    }
    if (this.#held.length > 0) this.#connection?.pause();
    this.#held.push(bytes.length <= TEXT_BYTES ? bytes.toString('latin1') : kept(bytes));
  }

  end(): void {
    if (this.#state !== 'responding') return;
    this.#complete = true;
    this.#over();
    this.#sink?.end();
  }

  failed(reason: ExchangeFailure, error: Error): void {
    if (this.#state === 'waiting') this.#fail(reason);
    else if (this.#state === 'responding') {
      this.#over();
      this.#brokenBy = error;
      this.#sink?.error(error);
    }
  }

  attach(sink: BodySink): WholeBody | undefined {
    const held = this.#held;
    this.#held = [];
    if (this.#complete) return { chunks: held };
    let more = true;
    for (const chunk of held) more = sink.data(chunk);
    if (this.#state === 'over') {
      sink.error(this.#brokenBy ?? GIVEN_UP);
      return undefined;
    }
    this.#sink = sink;
    if (more) this.#connection?.resume();
    else this.#connection?.pause();
    this.#progressMs = this.#options.clock.monotonicMs();
    // A tunnel has an idle time-out of its own, for both directions together.
    if (this.status !== 101) this.#watchProgress(this.#options.idleTimeoutMs);
    return undefined;
  }

  resume(): void {
    this.#progressMs = this.#options.clock.monotonicMs();
    if (this.#state === 'responding') this.#connection?.resume();
  }

  cancel(): void {
    if (this.#state === 'waiting') this.#fail('cancelled');
    else if (this.#state === 'responding') {
      this.#over();
      this.#connection?.destroy();
    }
  }

  #watchProgress(delayMs: number): void {
    const { clock, idleTimeoutMs } = this.#options;
    this.#idle = clock.setTimer(delayMs, () => {
      const leftMs = this.#progressMs + idleTimeoutMs - clock.monotonicMs();
      if (leftMs > 0) {
        this.#watchProgress(leftMs);
        return;
      }
      this.cancel();
      this.#sink?.error(IDLE);
    });
  }

  /**
   * Where the process stood still, timers run before what has come meanwhile is read. So what was sent has
   * one more turn of the event loop; an upstream must not be held to be slow for a pause of the gateway.
   */
  #expire(): void {
    if (this.#connection === undefined) this.#fail('attempt_timeout');
    else setImmediate(() => this.#fail('attempt_timeout'));
  }

  #fail(name: AttemptError['name']): void {
    if (this.#state !== 'waiting') return;
    this.#over();
    this.#connection?.destroy();
    this.#options.settle({ error: { name, sent: this.#connection !== undefined } });
  }

  #over(): void {
    this.#state = 'over';
    this.#timer.cancel();
    this.#idle?.cancel();
    this.#options.done();
  }
}

/** The same bytes in memory of their own. They are passed on soon, so Node's pool may hold them. */
function kept(bytes: BodyBytes): BodyBytes {
  return typeof bytes === 'string' ? bytes : Buffer.from(bytes);
}
