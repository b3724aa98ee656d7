import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { withoutField } from '@gateway/http/fields/header-fields';
import { responseHead } from '@gateway/http/message/message-writer';
import type { RequestContext } from '../request/context.ts';
import { respondHead, type RespondOptions } from '../request/reply.ts';
import { endToEndFields } from '../request/reply-head.ts';
import type { ResponseSink, UpstreamResponse } from '../request/upstream-response.ts';
import { SocketSink } from './refused-upgrade.ts';

export interface TunnelOptions {
  readonly respond: RespondOptions;
  readonly tunnelIdleTimeoutMs: number;
  /** Called when the 101 response was sent. */
  readonly switched: () => void;
}

/**
 * Sends the 101 response and connects the caller with the upstream. The end of one side ends the other, even if a side
 * vanishes or never closes.
 *
 * @param upstream receives the bytes for the upstream. The bytes of the upstream are the body of the response.
 * @returns what receives them
 */
export function openTunnel(
  ctx: RequestContext,
  response: UpstreamResponse,
  upstream: Writable,
  socket: Socket,
  options: TunnelOptions,
): ResponseSink {
  const head = responseHead(101, switchingFields(ctx, response, options.respond));
  socket.write(head, 'latin1', (error) => {
    if (error === undefined || error === null) options.switched();
  });
  socket.setKeepAlive(true);
  // All bytes of both directions pass this socket.
  socket.setTimeout(options.tunnelIdleTimeoutMs, () => socket.destroy());
  const { times } = ctx;
  const { clock } = options.respond;
  // Both sides are awaited from here on.
  times.awaitUpload(true, clock.monotonicMs());
  times.enterAtOnce('upstream');
  socket.pipe(upstream);
  return new SocketSink(ctx, response, socket, clock, {
    ended: () => undefined,
    cut: () => socket.destroySoon(),
  });
}

/**
 * The fields of the 101 response: the end-to-end fields of the upstream, and those of the gateway. A 101 has no length
 * (RFC 9110 section 8.6).
 */
function switchingFields(
  ctx: RequestContext,
  { fields }: UpstreamResponse,
  options: RespondOptions,
): string[] {
  const passed = withoutField(endToEndFields(fields, ctx), 'content-length');
  // A draining gateway sends `Connection: close`, which does not apply to this connection.
  const own = withoutField(respondHead(ctx, 101, options), 'connection');
  return ['connection', 'Upgrade', 'upgrade', 'websocket', ...passed, ...own];
}
