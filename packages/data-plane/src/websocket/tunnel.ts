import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { RequestContext } from '../request/context.ts';
import { pipeResponse } from '../request/pipe-response.ts';
import { respondHead, type RespondOptions } from '../request/reply.ts';
import type { UpstreamResponse } from '../request/upstream-response.ts';
import { bodyTarget, headText } from './refused-upgrade.ts';

export interface TunnelOptions {
  readonly respond: RespondOptions;
  readonly tunnelIdleTimeoutMs: number;
}

/**
 * Answers the caller with 101 and joins its connection with that to the upstream. The end of one side ends the
 * other, even if a side vanishes or never closes.
 *
 * @param upstream takes the bytes for the upstream; what the upstream sends is the body of the response
 */
export function openTunnel(
  ctx: RequestContext,
  response: UpstreamResponse,
  upstream: Writable,
  socket: Socket,
  options: TunnelOptions,
): void {
  socket.write(
    headText(101, 'Switching Protocols', switchingFields(ctx, response, options.respond)),
  );
  socket.setKeepAlive(true);
  // All bytes of both directions pass this socket.
  socket.setTimeout(options.tunnelIdleTimeoutMs, () => socket.destroy());
  socket.once('close', () => response.cancel());
  pipeResponse(
    response,
    bodyTarget(socket, () => socket.destroySoon()),
    {
      sent: (bytes) => void (ctx.responseBytes += bytes),
      ended: (complete) => void (ctx.upstreamBroke = !complete),
    },
  );
  socket.pipe(upstream);
}

/** The fields of the 101: the upstream's part of the handshake, and the gateway's own fields. */
function switchingFields(
  ctx: RequestContext,
  { fields }: UpstreamResponse,
  options: RespondOptions,
): string[] {
  const kept = ['connection', 'Upgrade', 'upgrade', 'websocket'];
  for (let index = 0; index < fields.length; index += 2) {
    const name = (fields[index] ?? '').toLowerCase();
    if (name.startsWith('sec-websocket-')) kept.push(name, fields[index + 1] ?? '');
  }
  const own = respondHead(ctx, 101, options);
  for (let index = 0; index < own.length; index += 2) {
    // While the gateway drains it announces the end of connections; this one is no longer HTTP.
    if (own[index] !== 'Connection') kept.push(own[index] ?? '', own[index + 1] ?? '');
  }
  return kept;
}
