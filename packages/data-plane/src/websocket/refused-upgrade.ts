import type { Socket } from 'node:net';
import type { End } from '@gateway/http1/exchange';
import { responseHead } from '@gateway/http1/message/message-writer';
import { writeBody } from '@gateway/http1/message/write-body';
import { abortConnection } from '@gateway/http1/server/linger';
import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RequestContext } from '../request/context.ts';
import { reasonOf } from '../request/proxy-handler.ts';
import { pipeResponse, type BodyTarget } from '../request/pipe-response.ts';
import { endToEndFields } from '../request/reply-head.ts';
import { errorReply, respondHead, type RespondOptions } from '../request/reply.ts';
import type { UpstreamResponse } from '../request/upstream-response.ts';

export interface RefusedUpgradeOptions {
  readonly respond: RespondOptions;
  readonly bodyIdleTimeoutMs: number;
}

/**
 * Passes on the response of an upstream that does not switch protocols. The connection closes after it, because bytes
 * that the caller sent early are not HTTP. If the response ends early, the connection is reset, so that the response
 * never looks complete.
 */
export function passRefusal(
  ctx: RequestContext,
  response: UpstreamResponse,
  socket: Socket,
  options: RefusedUpgradeOptions,
): void {
  const { status, statusText } = response;
  const { times } = ctx;
  const { clock } = options.respond;
  const fields = endToEndFields(response.fields, ctx);
  fields.push(...respondHead(ctx, status, options.respond));
  socket.write(responseHead(status, closing(fields), statusText), 'latin1');
  socket.once('close', () => response.cancel());
  times.enterAtOnce('upstream');
  const writable = pipeResponse(
    response,
    bodyTarget(socket, (end) => {
      ctx.endReason = reasonOf(end);
      abortConnection(socket);
    }),
    {
      sent: (bytes) => void (ctx.responseBytes += bytes),
      blocked: (isBlocked) => times.awaitDrain(isBlocked, clock.monotonicMs()),
      ended(complete) {
        times.enter('sending', clock.monotonicMs());
        ctx.upstreamBroke = !complete;
        // A caller that does not read the last bytes does not keep the connection open.
        socket.setTimeout(options.bodyIdleTimeoutMs, () => {
          ctx.endReason = 'timed_out';
          socket.destroy();
        });
      },
    },
  );
  socket.on('drain', writable);
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

/** The connection as the target of a body, after which it closes. `broken` is called if the body ends early. */
export function bodyTarget(socket: Socket, broken: (end: End) => void): BodyTarget {
  return {
    send(bytes, last) {
      const more = bytes.length === 0 || writeBody(socket, bytes);
      if (last) socket.destroySoon();
      return more;
    },
    flush: () => undefined,
    abort: broken,
  };
}

function closing(fields: string[]): string[] {
  if (!fields.includes('Connection')) fields.push('Connection', 'close');
  return fields;
}
