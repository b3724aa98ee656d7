import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@gateway/shared/clock';
import { ClientLeftError } from '../request/caller.ts';
import type { RequestContext } from '../request/context.ts';
import type { RespondOptions } from '../request/reply.ts';
import type {
  CompiledRoute,
  CompiledService,
  CompiledUpstream,
} from '../routing-table/routing-table.ts';
import { finalError, type AttemptResult } from '../upstream/attempt.ts';
import { attemptVerdict } from '../upstream/health/attempt-verdict.ts';
import type { ServiceBalancers } from '../upstream/health/service-balancer.ts';
import { backOff, nextDelayMs } from '../upstream/next-attempt.ts';
import type { UpstreamClient } from '../upstream/port.ts';
import type { ServiceLoad, ServiceLoads } from '../upstream/service-load.ts';
import { passResponse, switchingHeaders } from './upgrade-answer.ts';
import type { Handshake, HandshakeEnd, UpgradeCaller } from './handshake.ts';

/** Opens a tunnel for a request that may have one. Rejects with the error to answer with. */
export type Tunnel = (ctx: RequestContext, socket: Socket, ahead: Buffer) => Promise<void>;

export interface TunnelOptions {
  readonly handshake: Handshake;
  readonly upstreams: UpstreamClient;
  readonly balancers: ServiceBalancers;
  readonly loads: ServiceLoads;
  readonly respond: RespondOptions;
  readonly clock: Clock;
  /** Gives numbers in [0, 1). */
  readonly random: () => number;
  /** A tunnel in which nothing moves for this long is closed. */
  readonly idleTimeoutMs: number;
}

const NO_BODY = { kind: 'kept', bytes: null } as const;

/**
 * WebSocket: asks upstreams to switch, one after the other as long as the retry decision says so, and
 * joins the two connections. A tunnel counts as in flight at its upstream for as long as it stands; in
 * the retry budget of its service it counts only until it stands.
 */
export function createTunnel(options: TunnelOptions): Tunnel {
  return async (ctx, socket, ahead) => {
    const { route, version } = ctx;
    if (route === undefined || version === undefined) {
      throw new Error('the request to switch has no route');
    }
    const { service } = version;
    // A caller that ends its side before there is an answer has nothing more to come.
    const leave = () => socket.destroy();
    socket.once('end', leave);
    const caller = prepareCaller(ctx, socket, leave, options);
    // What comes early stays until the tunnel stands; the caller's end shows only while it is read.
    if (ahead.length > 0) socket.unshift(ahead);
    socket.read(0);
    const load = options.loads.enter(service.id);
    try {
      const answer = await switchOver(ctx, route, service, caller, load, options);
      if (answer !== undefined) {
        passResponse(ctx, answer, socket, options.respond);
        socket.setTimeout(options.idleTimeoutMs, () => socket.destroy());
      }
    } finally {
      socket.off('end', leave);
      options.loads.leave(service.id, load);
    }
  };
}

/** Gives undefined where an upstream has switched, or the answer of one that does not. */
async function switchOver(
  ctx: RequestContext,
  route: CompiledRoute,
  service: CompiledService,
  caller: UpgradeCaller,
  load: ServiceLoad,
  options: TunnelOptions,
): Promise<IncomingMessage | undefined> {
  const balancer = options.balancers.of(service);
  const tried = new Set<number>();
  for (let retriesMade = 0; ; retriesMade += 1) {
    if (ctx.clientGone) throw new ClientLeftError();
    const index = balancer.choose(route.regions, tried);
    const upstream = service.upstreams[index];
    if (upstream === undefined) throw new Error(`the service ${service.id} has no upstream`);
    const release = options.upstreams.hold(upstream);
    ctx.onFinish(release);
    if (retriesMade > 0) load.liveRetries += 1;
    const probe = balancer.begin(index);
    const end = await attempt(ctx, route, caller, upstream, options);
    if (retriesMade > 0) load.liveRetries -= 1;
    const outcome = outcomeOf(end);
    balancer.ended(index, probe, attemptVerdict(outcome, true));
    if (end.switched) return undefined;

    const elsewhere = outcome.error !== undefined && balancer.hasOther(tried, index);
    const known = { bodyKept: true, retriesMade, elsewhere };
    const delayMs = nextDelayMs(ctx, route, outcome, known, load, options);
    if (delayMs === undefined) {
      if (end.answer !== undefined) return end.answer;
      throw finalError(ctx, NO_BODY, end.error, options.clock.monotonicMs());
    }
    end.answer?.on('error', () => undefined).destroy();
    release();
    tried.add(index);
    await backOff(ctx, delayMs, load, options.clock);
  }
}

function outcomeOf(end: HandshakeEnd): AttemptResult {
  if (end.switched) return { response: { status: 101, fields: [] } };
  if (end.answer === undefined) return { error: end.error };
  return { response: { status: end.answer.statusCode ?? 0, fields: end.answer.rawHeaders } };
}

function attempt(
  ctx: RequestContext,
  route: CompiledRoute,
  caller: UpgradeCaller,
  upstream: CompiledUpstream,
  options: TunnelOptions,
): Promise<HandshakeEnd> {
  const remainingMs = Math.max(1, ctx.deadlineMs - options.clock.monotonicMs());
  const timeoutMs = Math.min(remainingMs, route.retry.perAttemptTimeoutMs ?? Infinity);
  return options.handshake(ctx, caller, upstream, timeoutMs);
}

function prepareCaller(
  ctx: RequestContext,
  socket: Socket,
  leave: () => void,
  options: TunnelOptions,
): UpgradeCaller {
  // http-proxy asks for no more of a request than its method and its headers.
  const request = new IncomingMessage(socket);
  request.method = ctx.method;
  return {
    request,
    socket,
    switching(answer, upstreamSocket) {
      socket.off('end', leave);
      joinSockets(socket, upstreamSocket, options.idleTimeoutMs);
      ctx.onFinish(() => (ctx.responseBytes += upstreamSocket.bytesRead));
      return switchingHeaders(ctx, answer.headers, options.respond);
    },
    broke: () => void (ctx.upstreamBroke = true),
  };
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
