import type { Socket } from 'node:net';
import type { End } from '@gateway/http/exchange';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import { responseHead } from '@gateway/http/message/message-writer';
import { writeBody } from '@gateway/http/message/write-body';
import { abortConnection } from '@gateway/http/http1/server/linger';
import type { Clock } from '@gateway/shared/clock';
import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RequestContext } from '../request/context.ts';
import { reasonOf } from '../request/handled-request.ts';
import { endToEndFields } from '../request/reply-head.ts';
import { errorReply, respondHead, type RespondOptions } from '../request/reply.ts';
import type { ResponseSink, UpstreamResponse } from '../request/upstream-response.ts';

export interface RefusedUpgradeOptions {
  readonly respond: RespondOptions;
  readonly bodyIdleTimeoutMs: number;
}

/**
 * Passes on the response of an upstream that does not switch protocols. The connection closes after it, because bytes
 * that the caller sent early are not HTTP. If the response ends early, the connection is reset, so that the response
 * never looks complete.
 *
 * @returns what receives the body
 */
export function passRefusal(
  ctx: RequestContext,
  response: UpstreamResponse,
  socket: Socket,
  options: RefusedUpgradeOptions,
): ResponseSink {
  const { status, statusText } = response;
  const { times } = ctx;
  const { clock } = options.respond;
  const fields = endToEndFields(response.fields, ctx);
  fields.push(...respondHead(ctx, status, options.respond));
  socket.write(responseHead(status, closing(fields), statusText), 'latin1');
  times.enterAtOnce('upstream');
  return new SocketSink(ctx, response, socket, clock, {
    ended() {
      // A caller that does not read the last bytes does not keep the connection open.
      socket.setTimeout(options.bodyIdleTimeoutMs, () => {
        ctx.endReason = 'timed_out';
        socket.destroy();
      });
    },
    cut(end) {
      ctx.endReason = reasonOf(end);
      abortConnection(socket);
    },
  });
}

/** Answers with an error of the gateway and closes the connection. */
export function writeError(
  ctx: RequestContext,
  socket: Socket,
  error: GatewayError,
  options: RespondOptions,
): void {
  const { fields, body } = errorReply(ctx, error, options);
  ctx.responseBytes += body.length;
  writeBody(socket, body, responseHead(error.status, closing(fields)));
  // A caller that never closes does not keep the connection open.
  socket.destroySoon();
}

/** What a body does to the connection that it is passed to. */
export interface SocketEvents {
  /** The upstream has finished, or broken off. */
  ended(): void;
  /** The body ended early, or its reader reads nothing. */
  cut(end: End): void;
}

/** Passes a body to the connection of a caller, which closes after it. */
export class SocketSink implements ResponseSink {
  readonly #ctx: RequestContext;
  readonly #response: UpstreamResponse;
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #events: SocketEvents;
  #isBlocked = false;

  constructor(
    ctx: RequestContext,
    response: UpstreamResponse,
    socket: Socket,
    clock: Clock,
    events: SocketEvents,
  ) {
    this.#ctx = ctx;
    this.#response = response;
    this.#socket = socket;
    this.#clock = clock;
    this.#events = events;
    socket.once('close', () => response.cancel());
    socket.on('drain', () => {
      if (!this.#isBlocked) return;
      this.#block(false);
      response.resume();
    });
  }

  data(bytes: BodyBytes, last: boolean): void {
    this.#ctx.responseBytes += bytes.length;
    if (last) this.#ended(true);
    const more = bytes.length === 0 || writeBody(this.#socket, bytes);
    if (last) this.#socket.destroySoon();
    else if (!more) {
      this.#response.pause();
      this.#block(true);
    }
  }

  /** The head has been written. */
  delivered(): void {
    return undefined;
  }

  stalled(): void {
    this.#events.cut('timed_out');
  }

  broken(): void {
    try {
      this.#ended(false);
    } finally {
      this.#events.cut('cut_short');
    }
  }

  #ended(isComplete: boolean): void {
    this.#ctx.times.enter('sending', this.#clock.monotonicMs());
    this.#ctx.upstreamBroke = !isComplete;
    this.#events.ended();
  }

  #block(isBlocked: boolean): void {
    if (this.#isBlocked === isBlocked) return;
    this.#isBlocked = isBlocked;
    this.#ctx.times.awaitDrain(isBlocked, this.#clock.monotonicMs());
  }
}

function closing(fields: string[]): string[] {
  if (!fields.includes('Connection')) fields.push('Connection', 'close');
  return fields;
}
