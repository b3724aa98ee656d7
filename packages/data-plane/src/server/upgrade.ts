import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { RequestContext } from '../pipeline/context.ts';
import { errorReply, type RespondOptions } from '../pipeline/respond.ts';
import { runStages, type Stage } from '../pipeline/stage.ts';
import { createContext, type ArrivalOptions } from './arrivals.ts';
import type { InFlight } from './in-flight.ts';
import { toGatewayError } from './proxy-handler.ts';
import type { Tunnel } from './web-socket-tunnel.ts';

export type UpgradeHandler = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  path: string,
  query: string,
) => void;

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
  return (request, socket, head, path, query) => {
    const ctx = createContext(request, path, query, () => undefined, options.arrivals);
    options.inFlight.enter();
    let open = true;
    const over = () => {
      if (!open) return;
      open = false;
      options.inFlight.leave();
      ctx.finish();
      options.finished(ctx);
    };
    socket.on('error', (error) => {
      options.log.debug({ request_id: ctx.id, reason: error.message }, 'an upgraded socket broke');
    });
    socket.once('close', over);
    void proceedToTunnel(ctx, request, socket, head, options);
  };
}

async function proceedToTunnel(
  ctx: RequestContext,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  options: UpgradeOptions,
): Promise<void> {
  try {
    await runStages(options.gateStages, ctx);
    await options.tunnel(ctx, request, socket, head);
  } catch (error) {
    const refusal = toGatewayError(ctx, error, options.log);
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    writeRefusal(ctx, socket, refusal, options.respond);
  }
}

function writeRefusal(
  ctx: RequestContext,
  socket: Duplex,
  error: GatewayError,
  options: RespondOptions,
): void {
  const { fields, body } = errorReply(ctx, error, options);
  ctx.responseBytes += body.length;
  const lines = [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`];
  for (let index = 0; index < fields.length; index += 2) {
    lines.push(`${fields[index] ?? ''}: ${fields[index + 1] ?? ''}`);
  }
  socket.end(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`);
}
