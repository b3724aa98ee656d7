import type { BodySink, BodySource, End, ServerExchange } from '@gateway/http/exchange';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import type { Clock, Timer } from '@gateway/shared/clock';
import type { RequestContext } from '../request/context.ts';
import type { Handling } from '../request/stage.ts';
import type { BreakReason, ResponseSink, UpstreamResponse } from '../request/upstream-response.ts';

export interface TunnelOptions {
  readonly clock: Clock;
  /** A tunnel that carries nothing in either direction for this long is closed. */
  readonly idleTimeoutMs: number;
}

export function tunnelOpener(options: TunnelOptions): NonNullable<Handling['openTunnel']> {
  return (ctx, exchange, upstream, caller) => new Tunnel(ctx, exchange, upstream, caller, options);
}

/**
 * Passes bytes both ways between a caller and an upstream that have left HTTP. It is what receives the bytes of the
 * upstream, and the source of those of the caller. The end of one side ends the other, even if a side vanishes or never
 * closes.
 */
class Tunnel implements ResponseSink, BodySource {
  readonly #ctx: RequestContext;
  readonly #exchange: ServerExchange;
  readonly #caller: ResponseSink;
  readonly #options: TunnelOptions;
  #idle: Timer | undefined = undefined;
  #progressMs: number;

  constructor(
    ctx: RequestContext,
    exchange: ServerExchange,
    upstream: UpstreamResponse,
    caller: ResponseSink,
    options: TunnelOptions,
  ) {
    this.#ctx = ctx;
    this.#exchange = exchange;
    this.#caller = caller;
    this.#options = options;
    this.#progressMs = options.clock.monotonicMs();
    ctx.onFinish(() => {
      this.#idle?.cancel();
      upstream.cancel();
    });
    // Both sides are awaited from here on.
    ctx.times.awaitUpload(true, this.#progressMs);
    this.#watchProgress(options.idleTimeoutMs);
    upstream.sendBytes(this);
  }

  #watchProgress(delayMs: number): void {
    const { clock, idleTimeoutMs } = this.#options;
    this.#idle = clock.setTimer(delayMs, () => {
      this.#exchange.connection.guard.run(() => {
        const leftMs = this.#progressMs + idleTimeoutMs - clock.monotonicMs();
        if (leftMs > 0) this.#watchProgress(leftMs);
        else this.#exchange.abort('timed_out');
      }, this.#ctx);
    });
  }

  #progress(): void {
    this.#progressMs = this.#options.clock.monotonicMs();
  }

  data(bytes: BodyBytes, last: boolean): void {
    this.#progress();
    this.#caller.data(bytes, last);
  }

  delivered(): void {
    this.#caller.delivered();
  }

  stalled(): void {
    this.#caller.stalled();
  }

  /**
   * A tunnel cannot look complete, so the caller gets all that has arrived. `request_body`: the caller's side has broken
   * off, or a drain has ended it, which an upstream over HTTP/2 learns by a reset of its stream.
   */
  broken(why: BreakReason): void {
    if (why !== 'request_body') this.#ctx.upstreamBroke = true;
    this.#caller.data('', true);
  }

  get ended(): End | undefined {
    return this.#exchange.body.ended;
  }

  start(sink: BodySink): void {
    this.#exchange.body.start({
      data: (bytes, last) => {
        this.#progress();
        sink.data(bytes, last);
      },
      failed: (end) => {
        sink.failed(end);
      },
    });
  }

  pause(): void {
    this.#exchange.body.pause();
  }

  resume(): void {
    this.#progress();
    this.#exchange.body.resume();
  }

  discard(): void {
    this.#exchange.body.discard();
  }
}
