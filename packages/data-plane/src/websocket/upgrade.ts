import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { ClientLeftError, type CallerRequest } from '../request/caller.ts';
import type { RequestContext } from '../request/context.ts';
import { errorReply, type RespondOptions } from '../request/reply.ts';
import { runStages, type Stage } from '../request/stage.ts';
import { createContext, type ArrivalOptions } from '../request/create-context.ts';
import type { InFlight } from '../request/in-flight.ts';
import { toGatewayError } from '../request/proxy-handler.ts';
import type { Tunnel } from './tunnel.ts';

export interface UpgradeHandler {
  /** `ahead`: what came after the request. */
  handle(request: CallerRequest, ahead: Buffer, path: string, query: string): void;
  /** Cuts every connection that was handed over, as the server knows nothing of them any more. */
  cut(): void;
}

export interface UpgradeOptions {
  /** Everything but forwarding: an upgrade is refused like any request. */
  readonly gateStages: readonly Stage[];
  readonly tunnel: Tunnel;
  readonly arrivals: ArrivalOptions;
  readonly respond: RespondOptions;
  readonly inFlight: InFlight;
  readonly log: Logger;
  readonly finished: (ctx: RequestContext) => void;
}

/** Handles a request to switch to WebSocket (RFC 6455 section 4), and refuses CONNECT. */
export function createUpgradeHandler(options: UpgradeOptions): UpgradeHandler {
  const open = new Set<Socket>();

  function handle(request: CallerRequest, ahead: Buffer, path: string, query: string): void {
    const { socket } = request;
    const ctx = createContext(request, path, query, () => undefined, options.arrivals);
    options.inFlight.enter();
    open.add(socket);
    socket.on('error', (error) => {
      options.log.debug({ request_id: ctx.id, reason: error.message }, 'an upgraded socket broke');
    });
    socket.once('close', () => {
      open.delete(socket);
      if (ctx.status === undefined) ctx.clientLeft();
      options.inFlight.leave();
      ctx.finish();
      options.finished(ctx);
    });
    void proceedToTunnel(ctx, socket, ahead, options);
  }

  return {
    handle,
    cut() {
      for (const socket of open) socket.destroy();
    },
  };
}

async function proceedToTunnel(
  ctx: RequestContext,
  socket: Socket,
  ahead: Buffer,
  options: UpgradeOptions,
): Promise<void> {
  try {
    await runStages(options.gateStages, ctx);
    await options.tunnel(ctx, socket, ahead);
  } catch (error) {
    if (error instanceof ClientLeftError || !socket.writable) socket.destroy();
    else writeRefusal(ctx, socket, toGatewayError(ctx, error, options.log), options.respond);
  }
}

function writeRefusal(
  ctx: RequestContext,
  socket: Socket,
  error: GatewayError,
  options: RespondOptions,
): void {
  const { fields, body } = errorReply(ctx, error, options);
  ctx.responseBytes += Buffer.byteLength(body);
  const lines = [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`];
  for (let index = 0; index < fields.length; index += 2) {
    lines.push(`${fields[index] ?? ''}: ${fields[index + 1] ?? ''}`);
  }
  socket.write(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`);
  // A caller who never hangs up must not hold the connection.
  socket.destroySoon();
}
