import { Agent as HttpAgent, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import httpProxy from 'http-proxy';
import type { RequestContext } from '../pipeline/context.ts';
import { upstreamPath } from '../pipeline/proxy-path.ts';
import type { RespondOptions } from '../pipeline/respond.ts';
import type { CompiledUpstream } from '../table/routing-table.ts';
import { ClientLeftError, recordAttempt, type AttemptEnd } from '../upstream/attempt.ts';
import { isDeniedHost } from '../upstream/guarded-lookup.ts';
import { connectFailure } from '../upstream/http1/connect.ts';
import type { AttemptError } from '../upstream/port.ts';
import { passResponse, switchingHeaders, upgradeHeaders } from './upgrade-answer.ts';

/** Opens a tunnel for a request that may have one. Rejects with the error to answer with. */
export type Tunnel = (
  ctx: RequestContext,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
) => Promise<void>;

export interface TunnelOptions {
  readonly choose: (ctx: RequestContext) => CompiledUpstream;
  readonly lookup: LookupFunction;
  readonly deny: AddressRanges;
  readonly respond: RespondOptions;
  readonly clock: Clock;
  /** A tunnel in which nothing moves for this long is closed. */
  readonly idleTimeoutMs: number;
}

/**
 * WebSocket by http-proxy, which carries the bytes of a connection that has switched. Everything else
 * is done here: the header rules, the deadline, the address guard, failures, an answer other than 101,
 * and the end of one side ending the other (docs/adr/0004).
 */
export function createTunnel(options: TunnelOptions): Tunnel {
  const proxy = httpProxy.createProxyServer({ ws: true });
  const agents = {
    'http:': new HttpAgent({ keepAlive: false, lookup: options.lookup }),
    'https:': new HttpsAgent({ keepAlive: false, lookup: options.lookup }),
  };
  const waiting = new WeakMap<IncomingMessage, (outgoing: ClientRequest) => void>();
  proxy.on('proxyReqWs', (outgoing, request) => waiting.get(request)?.(outgoing));

  function send(
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
    upstream: CompiledUpstream,
    prepare: (outgoing: ClientRequest) => void,
    broke: () => void,
  ): void {
    waiting.set(request, prepare);
    const agent = agents[upstream.origin.startsWith('https:') ? 'https:' : 'http:'];
    // Without a callback of the call http-proxy throws where the upstream resets an open tunnel.
    proxy.ws(request, socket, head, { target: upstream.origin, agent, ignorePath: true }, broke);
  }

  return (ctx, request, socket, head) => {
    const upstream = options.choose(ctx);
    const startedMs = options.clock.monotonicMs();
    ctx.upstream = upstream;
    const note = (end: AttemptEnd) => {
      recordAttempt(ctx, upstream, end, startedMs, options.clock.monotonicMs());
    };
    if (isDeniedHost(upstream.origin, options.deny)) {
      note({ error: { name: 'address_refused', sent: false } });
      return Promise.reject(unavailable(ctx, false));
    }
    return new Promise((resolve, reject) => {
      const timer = options.clock.setTimer(Math.max(1, ctx.deadlineMs - startedMs), () => {
        const message = `The upstream of the route ${ctx.route?.name ?? ''} did not answer in time.`;
        fail('attempt_timeout', new GatewayError('upstream_timeout', message));
      });
      let outgoing: ClientRequest | undefined;
      let connected = false;
      let settled = false;

      function settle(end: AttemptEnd): boolean {
        if (settled) return false;
        settled = true;
        timer.cancel();
        ctx.whenClientGone(undefined);
        note(end);
        return true;
      }
      function fail(name: AttemptError['name'], error: Error): void {
        if (!settle({ error: { name, sent: connected } })) return;
        outgoing?.destroy();
        reject(error);
      }
      // A caller that ends its side before the switch has nothing more to come.
      socket.once('end', () => {
        if (!settled) socket.destroy();
      });
      ctx.whenClientGone(() => {
        fail('cancelled', new ClientLeftError());
      });

      request.headers = upgradeHeaders(ctx, upstream);
      const broke = () => void (ctx.upstreamBroke = true);
      const prepare = (clientRequest: ClientRequest) => {
        outgoing = clientRequest;
        outgoing.path = upstreamPath(upstream.basePath, ctx.target.subPath, ctx.target.query);
        outgoing.once('socket', (one) => one.once('connect', () => (connected = true)));
        // Before http-proxy's own listener, which sends on what this one leaves in the headers.
        outgoing.prependListener('upgrade', (answer, upstreamSocket) => {
          settle({ response: { status: 101 } });
          answer.headers = switchingHeaders(ctx, answer.headers, options.respond);
          joinSockets(socket, upstreamSocket, options.idleTimeoutMs);
          ctx.onFinish(() => (ctx.responseBytes += upstreamSocket.bytesRead));
          resolve();
        });
      };
      send(request, socket, head, upstream, prepare, broke);
      // http-proxy would end the caller's connection without an answer, or with one out of frame.
      outgoing?.removeAllListeners('error').removeAllListeners('response');
      outgoing?.on('error', (error: NodeJS.ErrnoException) => {
        fail(failureName(error, connected), unavailable(ctx, connected));
      });
      outgoing?.on('response', (answer) => {
        settle({ response: { status: answer.statusCode ?? 0 } });
        passResponse(ctx, answer, socket, options.respond);
        socket.setTimeout(options.idleTimeoutMs, () => socket.destroy());
        resolve();
      });
      // Its end shows only while it is read; what comes early stays until the tunnel stands.
      socket.read(0);
    });
  };
}

function failureName(error: NodeJS.ErrnoException, connected: boolean): AttemptError['name'] {
  if (!connected) return connectFailure(error.code);
  return error.code?.startsWith('HPE_') === true ? 'invalid_response' : 'reset';
}

function unavailable(ctx: RequestContext, connected: boolean): GatewayError {
  const route = ctx.route?.name ?? '';
  return new GatewayError(
    'upstream_unavailable',
    connected
      ? `The upstream of the route ${route} broke off before its response began.`
      : `No upstream of the route ${route} could be reached.`,
  );
}

/** The end of one side ends the other, also where a side vanishes without a word or never hangs up. */
function joinSockets(socket: Socket, upstream: Socket, idleTimeoutMs: number): void {
  socket.once('close', () => upstream.destroy());
  upstream.once('close', () => {
    // What the upstream sent last still goes out.
    socket.destroySoon();
  });
  // What goes either way passes this socket.
  socket.setTimeout(idleTimeoutMs, () => socket.destroy());
}
