import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions as HttpSettings,
  type ServerResponse,
} from 'node:http';
import { Server as NetServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pause, type Clock } from '@gateway/shared/clock';
import { listen } from '@gateway/shared/net/listen';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';
import { PROXY_PREFIX, splitTarget } from './pipeline/proxy-path.ts';
import {
  limitConnections,
  type ConnectionLimits,
  type ConnectionRefusal,
  type OpenConnections,
} from './server/connection-limits.ts';
import { sweepConnections, type SweepLimits } from './server/connection-sweep.ts';
import { CuttableResponse } from './server/cuttable-response.ts';
import { createHttp2Server, type Http2Limits, type Http2Server } from './server/http2/server.ts';
import type { InFlight } from './server/in-flight.ts';
import type { MalformedHandler } from './server/malformed.ts';
import { PacedRequest } from './server/paced-request.ts';
import { isLast, pendingResponse } from './server/pending-response.ts';
import type { ProxyHandler } from './server/proxy-handler.ts';
import { createSecureServer, type SecureServerOptions } from './server/secure-server.ts';
import { SentAhead, SentAheadError } from './server/sent-ahead.ts';
import type { UpgradeHandler } from './server/upgrade.ts';

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly proxy: ProxyHandler;
  readonly passThrough: ProxyHandler;
  readonly upgrade: UpgradeHandler;
  readonly malformed: MalformedHandler;
  readonly inFlight: InFlight;
  readonly clock: Clock;
  readonly limits: ServerLimits;
  /** With one the port has TLS, and HTTP/2. */
  readonly certificate: ServedCertificate | undefined;
  /** Counts a connection that was ended for what its caller did, by reason. */
  readonly connectionEnded: (reason: string) => void;
  /** Counts a connection that was one too many. */
  readonly connectionRefused: (reason: ConnectionRefusal) => void;
}

export interface ServerLimits extends SweepLimits, ConnectionLimits, Http2Limits {
  readonly maxHeaderBytes: number;
  /** For the head of a request. */
  readonly headersTimeoutMs: number;
}

export interface DataPlaneServer {
  readonly port: number;
  readonly openConnections: OpenConnections;
  /**
   * Takes no new connection, lets what is in flight end within `timeoutMs`, then cuts the rest. Idle
   * connections are kept for `graceMs`, in which a request on one of them is still answered, with
   * `Connection: close`: so no caller loses a request that it had already sent.
   */
  drain(graceMs: number, timeoutMs: number): Promise<void>;
}

/** How long what was cut may take to notice. */
const CUT_MS = 1_000;
/** Requests of one connection that may wait behind another one of it. */
const MAX_SENT_AHEAD = 128;

/** The HTTP server of the data plane: it sorts what arrives by path and hands it on. */
export async function startServer(options: ServerOptions): Promise<DataPlaneServer> {
  const { limits } = options;
  const settings: HttpSettings<typeof IncomingMessage, typeof CuttableResponse> = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    // How often node:http looks for heads that are overdue.
    connectionsCheckingInterval: Math.ceil(limits.headersTimeoutMs / 4),
    // The sweep cuts idle connections at a fraction of the cost.
    keepAliveTimeout: 0,
    // Long uploads are legitimate; each has its own idle time-out instead.
    requestTimeout: 0,
    // Checked by the first stage, as the refusal must be in the error envelope and have its record.
    requireHostHeader: false,
    noDelay: true,
    shouldUpgradeCallback: isWebSocket,
    IncomingMessage: PacedRequest,
    ServerResponse: CuttableResponse,
  };
  const secure = options.certificate && secureWith(options.certificate, options);
  const server =
    secure === undefined ? createServer(settings) : createSecureServer(settings, secure);
  server.maxHeadersCount = 0;

  const openConnections = limitConnections(server, limits, options.connectionRefused);
  sweepConnections(server, options.clock, limits);
  const sentAhead = new SentAhead(MAX_SENT_AHEAD);
  const ending = new WeakSet<Duplex>();
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    // After a response that ends the connection nothing on it is a request (RFC 9112 section 9.6): where
    // the message before it was refused for its framing, this may be a part of that one's body.
    if (ending.has(request.socket) || !request.socket.writable) return;
    const { path, query } = splitTarget(request.url ?? '/');
    const handler = isProxyPath(path) ? options.proxy : options.passThrough;
    handler(request, response, path, query);
    if (response.headersSent && isLast(response)) ending.add(request.socket);
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    // It has the connection once the responses before it are over.
    if (response.socket !== null) serve(request, response);
    else if (!sentAhead.enter(response, () => serve(request, response))) {
      options.malformed(new SentAheadError(), request.socket);
    }
  };
  server.on('request', onRequest);
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { path, query } = splitTarget(request.url ?? '/');
    // Of a server on TCP it always is a Socket. A CONNECT must not be answered before its turn.
    if (socket instanceof Socket && socket.writable && pendingResponse(socket) === undefined)
      options.upgrade.handle(request, socket, head, path, query);
    else socket.destroy();
  };
  server.on('upgrade', onUpgrade);
  server.on('connect', onUpgrade);
  server.on('clientError', options.malformed);

  const { host, port } = options;
  const listening = await listen(server, { host, port, portVariable: 'GATEWAY_PORT' });
  return {
    port: listening,
    openConnections,
    drain: (graceMs, timeoutMs) => drain(server, secure?.http2, options, graceMs, timeoutMs),
  };
}

function isProxyPath(path: string): boolean {
  return path.startsWith(PROXY_PREFIX) || path === '/v1/proxy';
}

/**
 * RFC 6455 section 4.1; any other offer to upgrade is passed over (RFC 9110 section 7.8). So is one that
 * was sent ahead, as node:http would let it overtake the responses before it.
 */
function isWebSocket({ method, url = '', headers, socket }: IncomingMessage): boolean {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false;
  return isProxyPath(splitTarget(url).path) && pendingResponse(socket) === undefined;
}

function secureWith(certificate: ServedCertificate, options: ServerOptions): SecureServerOptions {
  const { clock, limits, connectionEnded: count } = options;
  const http2 = createHttp2Server({
    onRequest(request, response) {
      const { path, query } = splitTarget(request.url ?? '/');
      const handler = isProxyPath(path) ? options.proxy : options.passThrough;
      handler(request, response, path, query);
    },
    ...{ count, clock, limits },
  });
  const failed = () => {
    count('TLS_HANDSHAKE');
  };
  return { certificate, http2, failed, handshakeTimeoutMs: limits.headersTimeoutMs };
}

async function drain(
  server: Server,
  http2: Http2Server | undefined,
  options: ServerOptions,
  graceMs: number,
  timeoutMs: number,
): Promise<void> {
  const { clock, inFlight } = options;
  // http.Server's own close would cut idle connections in the middle of a caller's next request.
  NetServer.prototype.close.call(server);
  const startedMs = clock.monotonicMs();
  await pause(clock, Math.min(graceMs, timeoutMs));
  http2?.close();
  const leftMs = Math.max(0, timeoutMs - (clock.monotonicMs() - startedMs));
  const idle = new AbortController();
  await Promise.race([inFlight.idle(), pause(clock, leftMs, idle.signal)]);
  idle.abort();
  server.closeAllConnections();
  http2?.cut();
  options.upgrade.cut();
  // What was cut still gets its record.
  const cut = new AbortController();
  await Promise.race([inFlight.idle(), pause(clock, CUT_MS, cut.signal)]);
  cut.abort();
}
