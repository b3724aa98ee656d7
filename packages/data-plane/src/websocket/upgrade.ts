import type { Socket } from 'node:net';
import type { ConnectionGuard } from '@gateway/http/connection-guard';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { UpgradedExchange } from '@gateway/http/http1/server/options';
import { ClientLeftError } from '../request/client-left-error.ts';
import type { RequestContext } from '../request/context.ts';
import { createContext, type ContextOptions } from '../request/create-context.ts';
import type { InFlight } from '../request/in-flight.ts';
import { finishRequest, toGatewayError } from '../request/handled-request.ts';
import type { RespondOptions } from '../request/reply.ts';
import { runStages, type NamedStage } from '../request/stage.ts';
import { passRefusal, writeError } from './refused-upgrade.ts';
import type { ResponseSink, UpstreamResponse } from '../request/upstream-response.ts';
import type { Forward } from '../upstream/forward-stage.ts';
import { openTunnel, type TunnelOptions } from './tunnel.ts';

/** Handles requests that leave HTTP. */
export interface UpgradeHandler {
  /** @param ahead bytes that arrived after the request */
  handle(exchange: UpgradedExchange, ahead: Buffer, path: string, query: string): void;
  /** Closes every upgraded connection now, because the gateway stops. The server does not know them any more. */
  destroy(): void;
}

export interface UpgradeOptions {
  readonly stages: readonly NamedStage[];
  /** What follows the stages. */
  readonly forward: Forward;
  readonly contextOptions: ContextOptions;
  readonly respond: RespondOptions;
  readonly inFlight: InFlight;
  readonly log: Logger;
  /** Called once for every upgrade, when its connection has closed. */
  readonly finished: (ctx: RequestContext) => void;
  /** A tunnel that carries nothing in either direction for this long is closed. */
  readonly tunnelIdleTimeoutMs: number;
  /** How long the body of a refusal may make no progress. */
  readonly bodyIdleTimeoutMs: number;
}

/** Handles requests to switch to WebSocket (RFC 6455 section 4), and refuses CONNECT. */
export function createUpgradeHandler(options: UpgradeOptions): UpgradeHandler {
  const open = new Set<ConnectionGuard>();

  function handle(exchange: UpgradedExchange, ahead: Buffer, path: string, query: string): void {
    const { socket, guard } = exchange.connection;
    const ctx = createContext(exchange, path, query, options.contextOptions);
    options.inFlight.enter();
    open.add(guard);
    /** Whether the caller has been sent the 101 response. */
    let hasTunnel = false;
    guard.events(socket);
    const failed = (error: Error) => {
      options.log.debug(
        { request_id: ctx.id, trace_id: ctx.trace.traceId, reason: error.message },
        'upgraded connection failed',
      );
    };
    const closed = () => {
      open.delete(guard);
      // Every other answer ends the connection, and is complete when all of it was sent.
      guard.run(() => {
        if (!hasTunnel && !socket.writableFinished) ctx.clientLeft(guard.endReason);
      }, ctx);
      guard.run(() => {
        finishRequest(ctx, options.inFlight, options.finished);
      }, ctx);
    };
    socket.on('error', failed).once('close', closed);
    respond(ctx, socket, ahead, options, () => (hasTunnel = true)).catch((error: unknown) => {
      guard.fail(error, ctx);
    });
  }

  return {
    handle,
    destroy() {
      for (const guard of open) guard.end('drained');
    },
  };
}

async function respond(
  ctx: RequestContext,
  socket: Socket,
  ahead: Buffer,
  options: UpgradeOptions,
  switched: () => void,
): Promise<void> {
  // A caller that ends its side before the response has left.
  const leave = () => socket.destroy();
  const refuse = (error: unknown) => {
    socket.off('end', leave);
    if (error instanceof ClientLeftError) socket.destroy();
    else writeError(ctx, socket, toGatewayError(ctx, error, options.log), options.respond);
  };
  try {
    const replied = runStages(options.stages, ctx);
    socket.once('end', leave);
    // Early bytes wait for the tunnel. The end of the caller's side shows only while the socket is read.
    if (ahead.length > 0) socket.unshift(ahead);
    socket.read(0);
    if ((await replied) !== undefined) throw new Error('a stage answered the upgrade');
    options.forward(ctx, {
      responded(response, last) {
        try {
          socket.off('end', leave);
          return pass(ctx, response, last, socket, { ...options, switched });
        } catch (error) {
          refuse(error);
          return undefined;
        }
      },
      failed: refuse,
    });
  } catch (error) {
    refuse(error);
  }
}

function pass(
  ctx: RequestContext,
  response: UpstreamResponse,
  last: boolean,
  socket: Socket,
  options: UpgradeOptions & TunnelOptions,
): ResponseSink | undefined {
  ctx.whenClientGone(undefined);
  if (ctx.clientGone) return undefined;
  if (response.upgraded !== undefined) {
    return openTunnel(ctx, response, response.upgraded, socket, options);
  }
  const sink = passRefusal(ctx, response, socket, options);
  if (last) sink.data('', true);
  return sink;
}
