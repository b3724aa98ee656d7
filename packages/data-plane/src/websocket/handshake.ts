import { Agent as HttpAgent, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { Clock } from '@gateway/shared/clock';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import httpProxy from 'http-proxy';
import type { RequestContext } from '../request/context.ts';
import { upstreamPath } from '../request/proxy-path.ts';
import type { UpstreamTls } from '../routing-table/compile-tls.ts';
import type { CompiledUpstream } from '../routing-table/routing-table.ts';
import { recordAttempt, type AttemptEnd } from '../upstream/attempt.ts';
import { isDeniedHost } from '../upstream/names/guarded-lookup.ts';
import { connectError } from '../upstream/connection-pool.ts';
import { contextOptions } from '../upstream/secure-context.ts';
import type { AttemptError } from '../upstream/port.ts';
import { upgradeHeaders } from './upgrade-answer.ts';

/** A caller that asks for WebSocket. */
export interface UpgradeCaller {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /**
   * The upstream switches: gives the headers of the 101. Called before anything of the upstream goes
   * to the caller; what comes then is carried without any more asking.
   */
  readonly switching: (answer: IncomingMessage, upstream: Socket) => IncomingMessage['headers'];
  /** The connection to the upstream broke after it had switched. */
  readonly broke: () => void;
}

/** How the attempt ended. An answer other than a switch must be passed on, or destroyed. */
export type HandshakeEnd =
  | { readonly switched: true }
  | { readonly switched: false; readonly answer: IncomingMessage }
  | { readonly switched: false; readonly answer?: undefined; readonly error: AttemptError };

/** Asks one upstream to switch, within `timeoutMs`, and notes the attempt. Never rejects. */
export type Handshake = (
  ctx: RequestContext,
  caller: UpgradeCaller,
  upstream: CompiledUpstream,
  timeoutMs: number,
) => Promise<HandshakeEnd>;

export interface HandshakeOptions {
  readonly lookup: LookupFunction;
  readonly deny: AddressRanges;
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
}

const NO_HEAD = Buffer.alloc(0);

/**
 * One attempt to open a tunnel, made by http-proxy, whose own answers to failures and to refusals are
 * taken off it (docs/adr/0004): the caller's connection stays as it is, for another attempt or an answer.
 */
export function createHandshake(options: HandshakeOptions): Handshake {
  const { clock } = options;
  const proxy = httpProxy.createProxyServer({ ws: true });
  const agents = {
    'http:': new HttpAgent({ keepAlive: false, lookup: options.lookup }),
    'https:': new HttpsAgent({ keepAlive: false, lookup: options.lookup }),
  };
  const ofServices = new WeakMap<UpstreamTls, HttpsAgent>();
  function agentFor({ origin, tls }: CompiledUpstream): HttpAgent {
    if (!origin.startsWith('https:')) return agents['http:'];
    if (tls === undefined) return agents['https:'];
    let agent = ofServices.get(tls);
    if (agent === undefined) {
      const { serverName: servername } = tls;
      agent = new HttpsAgent({
        ...{ keepAlive: false, lookup: options.lookup, ...contextOptions(tls) },
        ...(servername !== undefined && { servername }),
      });
      ofServices.set(tls, agent);
    }
    return agent;
  }
  const waiting = new WeakMap<IncomingMessage, (outgoing: ClientRequest) => void>();
  proxy.on('proxyReqWs', (outgoing, request) => waiting.get(request)?.(outgoing));

  function send(
    caller: UpgradeCaller,
    upstream: CompiledUpstream,
    prepare: (outgoing: ClientRequest) => void,
  ): void {
    const { request, socket, broke } = caller;
    waiting.set(request, prepare);
    const agent = agentFor(upstream);
    const target = { target: upstream.origin, agent, ignorePath: true };
    // Without a callback of the call http-proxy throws where the upstream resets an open tunnel.
    proxy.ws(request, socket, NO_HEAD, target, broke);
  }

  return (ctx, caller, upstream, timeoutMs) => {
    const startedMs = clock.monotonicMs();
    ctx.upstream = upstream;
    const note = (end: AttemptEnd) => {
      recordAttempt(ctx, upstream, end, startedMs, clock.monotonicMs());
    };
    if (isDeniedHost(upstream.origin, options.deny)) {
      const error = { name: 'address_refused', sent: false } as const;
      note({ error });
      return Promise.resolve({ switched: false, error });
    }
    return new Promise((resolve) => {
      let outgoing: ClientRequest | undefined;
      let reached = false;
      let connected = false;
      let settled = false;
      const timer = clock.setTimer(timeoutMs, () => fail('attempt_timeout'));
      const connecting = clock.setTimer(options.connectTimeoutMs, () => fail('connect_timeout'));

      function settle(end: AttemptEnd): boolean {
        if (settled) return false;
        settled = true;
        timer.cancel();
        connecting.cancel();
        ctx.whenClientGone(undefined);
        note(end);
        return true;
      }
      function fail(name: AttemptError['name']): void {
        const error = { name, sent: connected };
        if (!settle({ error })) return;
        outgoing?.destroy();
        resolve({ switched: false, error });
      }
      const prepare = (clientRequest: ClientRequest) => {
        outgoing = clientRequest;
        outgoing.path = upstreamPath(upstream.basePath, ctx.target.subPath, ctx.target.query);
        outgoing.once('socket', (socket) => {
          socket.once('connect', () => (reached = true));
          // Before the handshake of TLS is over nothing of the request has been sent.
          socket.once(isSecure(upstream) ? 'secureConnect' : 'connect', () => {
            connected = true;
            connecting.cancel();
          });
        });
      };

      ctx.whenClientGone(() => fail('cancelled'));
      caller.request.headers = upgradeHeaders(ctx, upstream);
      send(caller, upstream, prepare);
      // http-proxy would end the caller's connection without an answer, or with one out of frame.
      outgoing?.removeAllListeners('error').removeAllListeners('response');
      outgoing?.on('error', (error: NodeJS.ErrnoException) => {
        fail(!connected && reached ? 'tls_failed' : failureName(error, connected));
      });
      outgoing?.on('response', (answer) => {
        if (!isPassable(answer)) {
          answer.on('error', () => undefined);
          fail('invalid_response');
          return;
        }
        settle({ response: { status: answer.statusCode ?? 0 } });
        resolve({ switched: false, answer });
      });
      // http-proxy's own listener carries whatever comes then, so it hears of nothing but WebSocket.
      const carriers = outgoing?.listeners('upgrade') ?? [];
      outgoing?.removeAllListeners('upgrade');
      outgoing?.once('upgrade', (answer, upstreamSocket, head) => {
        if (answer.headers.upgrade?.toLowerCase() !== 'websocket') {
          upstreamSocket.destroy();
          fail('invalid_response');
          return;
        }
        settle({ response: { status: 101 } });
        // http-proxy sends on what is left in the headers.
        answer.headers = caller.switching(answer, upstreamSocket);
        resolve({ switched: true });
        for (const carry of carriers) carry.call(outgoing, answer, upstreamSocket, head);
      });
    });
  };
}

function isSecure(upstream: CompiledUpstream): boolean {
  return upstream.origin.startsWith('https:');
}

/** node:http takes any bytes as the reason, a 101 that switches to nothing, and any three digits. */
function isPassable({ statusCode = 0, statusMessage = '' }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode <= 599 && /^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage);
}

function failureName(error: NodeJS.ErrnoException, connected: boolean): AttemptError['name'] {
  if (!connected) return connectError({ phase: 'connect', code: error.code });
  return error.code?.startsWith('HPE_') === true ? 'invalid_response' : 'reset';
}
