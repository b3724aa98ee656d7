import type { Clock, Timer } from '@gateway/shared/clock';
import type { Dispatcher } from 'undici';
import type {
  AttemptError,
  AttemptOutcome,
  BodySink,
  UpstreamResponse,
  WholeBody,
} from './port.ts';

/**
 * One attempt as undici drives it: a request on its way out, then the response on its way in.
 *
 * undici hands over the head, the first bytes and often the end of a small response in one go, before
 * any promise has run on. So the chunks wait here until the response is attached; they are bounded by
 * what one read of the socket gave, as the first unattached chunk pauses the socket.
 */
export class Exchange implements Dispatcher.DispatchHandler, UpstreamResponse {
  status = 0;
  statusText = '';
  rawHeaders: readonly Buffer[] = [];

  readonly #settle: (outcome: AttemptOutcome) => void;
  readonly #done: () => void;
  readonly #timer: Timer;
  readonly #idleTimeoutMs: number;
  readonly #clock: Clock;
  #controller: Dispatcher.DispatchController | undefined;
  #state: 'waiting' | 'responding' | 'over' = 'waiting';
  #waiting: Buffer[] = [];
  #complete = false;
  #brokenBy: Error | undefined;
  #sink: BodySink | undefined;
  #idle: Timer | undefined;
  #lastChunkMs = 0;

  constructor(options: ExchangeOptions) {
    this.#settle = options.settle;
    this.#done = options.done;
    this.#clock = options.clock;
    this.#idleTimeoutMs = options.idleTimeoutMs;
    this.#timer = options.clock.setTimer(options.timeoutMs, () => this.#fail('attempt_timeout'));
  }

  /** A connection is there and the request is about to be written to it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#state === 'over') controller.abort(CANCELLED);
    else this.#controller = controller;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    statusText?: string,
  ): void {
    // An interim response (RFC 9110 section 15.2) is the upstream's word to us, not to the caller.
    if (status < 200 || this.#state !== 'waiting') return;
    this.#timer.cancel();
    this.#state = 'responding';
    this.status = status;
    this.statusText = statusText ?? '';
    this.rawHeaders = (controller.rawHeaders ?? []) as Buffer[];
    this.#settle({ response: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#state !== 'responding') return;
    if (this.#sink === undefined) {
      this.#waiting.push(chunk);
    } else {
      this.#lastChunkMs = this.#clock.monotonicMs();
      if (!this.#sink.data(chunk)) controller.pause();
    }
  }

  onResponseEnd(): void {
    if (this.#state !== 'responding') return;
    this.#complete = true;
    this.#over();
    this.#sink?.end();
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#state === 'waiting') {
      this.#fail(nameOf(error, this.#controller !== undefined));
    } else if (this.#state === 'responding') {
      this.#over();
      this.#brokenBy = error;
      this.#sink?.error(error);
    }
  }

  attach(sink: BodySink): WholeBody | undefined {
    const chunks = this.#waiting;
    this.#waiting = [];
    if (this.#complete) return { chunks };
    if (this.#state === 'over') {
      for (const chunk of chunks) sink.data(chunk);
      sink.error(this.#brokenBy ?? CANCELLED);
      return undefined;
    }
    this.#sink = sink;
    let more = true;
    for (const chunk of chunks) more = sink.data(chunk);
    if (!more) this.#controller?.pause();
    this.#lastChunkMs = this.#clock.monotonicMs();
    this.#watchIdle(this.#idleTimeoutMs);
    return undefined;
  }

  resume(): void {
    this.#controller?.resume();
  }

  discard(): void {
    this.cancel();
  }

  cancel(): void {
    if (this.#state === 'waiting') this.#fail('cancelled');
    else if (this.#state === 'responding') {
      this.#over();
      this.#controller?.abort(CANCELLED);
    }
  }

  /** No progress of the body in either direction for this long ends it. */
  #watchIdle(delayMs: number): void {
    this.#idle = this.#clock.setTimer(delayMs, () => {
      const idleMs = this.#clock.monotonicMs() - this.#lastChunkMs;
      if (idleMs < this.#idleTimeoutMs) {
        this.#watchIdle(this.#idleTimeoutMs - idleMs);
        return;
      }
      const sink = this.#sink;
      this.cancel();
      sink?.error(new Error('the body made no progress within the idle time-out'));
    });
  }

  #fail(name: AttemptError['name']): void {
    if (this.#state !== 'waiting') return;
    const sent = this.#controller !== undefined;
    this.#over();
    this.#controller?.abort(CANCELLED);
    this.#settle({ error: { name, sent } });
  }

  #over(): void {
    this.#state = 'over';
    this.#timer.cancel();
    this.#idle?.cancel();
    this.#done();
  }
}

export interface ExchangeOptions {
  readonly clock: Clock;
  /** For the head of the response. */
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  /** The head has arrived, or the attempt failed. */
  readonly settle: (outcome: AttemptOutcome) => void;
  /** The exchange is over, whichever way; called once. */
  readonly done: () => void;
}

const CANCELLED = new Error('the gateway gave up on the attempt');

const CONNECT_ERRORS: Readonly<Record<string, AttemptError['name']>> = {
  ECONNREFUSED: 'connect_refused',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  ETIMEDOUT: 'connect_timeout',
  EADDRREFUSED: 'address_refused',
};

function nameOf(error: Error, sent: boolean): AttemptError['name'] {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (!sent) return CONNECT_ERRORS[code] ?? 'connect_failed';
  if (code.startsWith('HPE_') || error.name === 'HTTPParserError') return 'invalid_response';
  if (error.name === 'ClientGoneError' || error.name === 'GatewayError') return 'request_body';
  return 'reset';
}
