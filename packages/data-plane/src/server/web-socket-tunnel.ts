import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import httpProxy from 'http-proxy';
import type { RequestContext } from '../pipeline/context.ts';
import { outboundHeaders } from '../pipeline/outbound-headers.ts';
import { upstreamPath } from '../pipeline/proxy-path.ts';
import { respondHead, type RespondOptions } from '../pipeline/respond.ts';
import type { CompiledUpstream } from '../table/routing-table.ts';
import { recordAttempt } from '../upstream/attempt.ts';
import { isDeniedHost } from '../upstream/guarded-lookup.ts';

/** Opens a tunnel for a request that may have one. Rejects with the error to answer with. */
export type Tunnel = (
  ctx: RequestContext,
  request: IncomingMessage,
  socket: Duplex,
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
 * WebSocket by http-proxy, which carries the bytes. Everything else is done here: the header rules,
 * the deadline, the address guard, an answer other than 101, and the end of one side ending the other.
 */
export function createTunnel(options: TunnelOptions): Tunnel {
  const proxy = httpProxy.createProxyServer({ ws: true });
  const agents = {
    'http:': new HttpAgent({ keepAlive: false, lookup: options.lookup }),
    'https:': new HttpsAgent({ keepAlive: false, lookup: options.lookup }),
  };
  const waiting = new WeakMap<IncomingMessage, (upstream: ClientRequest) => void>();
  proxy.on('proxyReqWs', (upstream, request) => waiting.get(request)?.(upstream));

  return (ctx, request, socket, head) => {
    const upstream = options.choose(ctx);
    if (isDeniedHost(upstream.origin, options.deny)) {
      throw new GatewayError('upstream_unavailable', unreachable(ctx));
    }
    const startedMs = options.clock.monotonicMs();
    ctx.upstream = upstream;
    return new Promise((resolve, reject) => {
      const timer = options.clock.setTimer(Math.max(1, ctx.deadlineMs - startedMs), () => {
        fail(new GatewayError('upstream_timeout', 'The upstream did not answer in time.'));
      });
      let outgoing: ClientRequest | undefined;
      let settled = false;

      function settle(status: number | undefined): boolean {
        if (settled) return false;
        settled = true;
        timer.cancel();
        const outcome =
          status === undefined
            ? { error: { name: 'reset' as const, sent: true } }
            : { response: { status } };
        recordAttempt(ctx, upstream, outcome, startedMs, options.clock.monotonicMs());
        return true;
      }
      function fail(error: Error): void {
        if (!settle(undefined)) return;
        outgoing?.destroy();
        reject(error);
      }

      waiting.set(request, (clientRequest) => {
        outgoing = clientRequest;
        clientRequest.path = upstreamPath(upstream.basePath, ctx.target.subPath, ctx.target.query);
        // These listeners come before http-proxy's own, which pass on what they leave in the headers.
        clientRequest.prependListener('upgrade', (answer, upstreamSocket) => {
          settle(101);
          answer.headers = switchingHeaders(ctx, answer.headers, options.respond);
          joinSockets(socket, upstreamSocket, options.idleTimeoutMs);
          upstreamSocket.once('close', () => {
            ctx.responseBytes += upstreamSocket.bytesRead;
          });
          resolve();
        });
        clientRequest.prependListener('response', (answer) => {
          // Marked so that http-proxy leaves it alone: it would send chunked bodies in broken framing.
          Object.assign(answer, { upgrade: true });
          settle(answer.statusCode);
          passResponse(ctx, answer, socket, options.respond);
          resolve();
        });
        socket.once('close', () => clientRequest.destroy());
      });
      request.headers = upgradeHeaders(ctx, upstream);
      const target = new URL(upstream.origin);
      const agent = agents[target.protocol === 'https:' ? 'https:' : 'http:'];
      proxy.ws(request, socket, head, { target: upstream.origin, agent, ignorePath: true }, () => {
        fail(new GatewayError('upstream_unavailable', unreachable(ctx)));
      });
    });
  };
}

function unreachable(ctx: RequestContext): string {
  return `No upstream of the route ${ctx.route?.name ?? ''} could be reached.`;
}

function upgradeHeaders(ctx: RequestContext, upstream: CompiledUpstream): IncomingHttpHeaders {
  const headers: Record<string, string> = {};
  const fields = outboundHeaders(ctx);
  for (let index = 0; index < fields.length; index += 2) {
    const name = (fields[index] ?? '').toLowerCase();
    const value = fields[index + 1] ?? '';
    const before = headers[name];
    const separator = name === 'cookie' ? '; ' : ', ';
    headers[name] = before === undefined ? value : before + separator + value;
  }
  return { ...headers, host: upstream.host, connection: 'Upgrade', upgrade: 'websocket' };
}

function switchingHeaders(
  ctx: RequestContext,
  headers: IncomingHttpHeaders,
  options: RespondOptions,
): IncomingHttpHeaders {
  const kept: OutgoingHttpHeaders = { connection: 'Upgrade', upgrade: 'websocket' };
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && name.startsWith('sec-websocket-')) kept[name] = value;
  }
  const fields = respondHead(ctx, 101, options);
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    if (name !== 'Connection') kept[name] = fields[index + 1];
  }
  return kept as IncomingHttpHeaders;
}

/** The end of one side ends the other, also where a side vanishes without a word. */
function joinSockets(socket: Duplex, upstream: Duplex, idleTimeoutMs: number): void {
  socket.once('close', () => upstream.destroy());
  upstream.once('close', () => {
    // What the upstream sent last is still on its way out.
    if (socket.writableEnded) return;
    socket.end();
  });
  for (const side of [socket, upstream]) {
    (side as { setTimeout?: (ms: number, expired: () => void) => void }).setTimeout?.(
      idleTimeoutMs,
      () => side.destroy(),
    );
  }
}

/** An upstream that does not switch: its answer goes to the caller, and the connection ends with it. */
function passResponse(
  ctx: RequestContext,
  answer: IncomingMessage,
  socket: Duplex,
  options: RespondOptions,
): void {
  const status = answer.statusCode ?? 502;
  const lines = [`HTTP/1.1 ${status} ${answer.statusMessage ?? ''}`];
  for (let index = 0; index < answer.rawHeaders.length; index += 2) {
    const name = answer.rawHeaders[index] ?? '';
    if (
      /^(?:connection|keep-alive|transfer-encoding|upgrade|x-request-id|x-gateway-.*|x-ratelimit-.*)$/i.test(
        name,
      )
    ) {
      continue;
    }
    lines.push(`${name}: ${answer.rawHeaders[index + 1] ?? ''}`);
  }
  const fields = respondHead(ctx, status, options);
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index] !== 'Connection')
      lines.push(`${fields[index] ?? ''}: ${fields[index + 1] ?? ''}`);
  }
  socket.write(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`, 'latin1');
  answer.on('data', (chunk: Buffer) => void (ctx.responseBytes += chunk.length));
  answer.on('error', () => socket.destroy());
  answer.pipe(socket);
}
