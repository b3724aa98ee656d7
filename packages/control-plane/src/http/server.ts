import {
  createServer,
  STATUS_CODES,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Clock } from '@gateway/shared/clock';
import { ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import { errorBody } from '@gateway/shared/errors/gateway-error';
import { HEADER } from '@gateway/shared/http/headers';
import type { createIdFactory } from '@gateway/shared/ids';
import { listen } from '@gateway/shared/net/listen';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';
import { prepareDrain } from './drain.ts';
import type { HttpMetrics } from './metrics.ts';

export interface ManagementServer {
  readonly port: number;
  /** Takes no more connections, lets the calls in flight end, and resolves when all are closed: see drain.ts. */
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly port: number;
  readonly host: string;
  readonly clock: Clock;
  readonly newId: ReturnType<typeof createIdFactory>;
  /** What a request that cannot be parsed is told of the limit; it has no address of its own. */
  readonly authFailureLimit: number;
  readonly metrics: HttpMetrics;
  /** With one the port has TLS. */
  readonly certificate?: ServedCertificate | undefined;
}

/** A request that has not arrived whole after this long is cut off; it bounds what is read in vain. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Each may hold a body of 1 MiB, so this bounds the memory. */
const MAX_CONNECTIONS = 1000;

/** Starts the management port. */
export async function startServer(
  app: RequestListener,
  options: ServerOptions,
): Promise<ManagementServer> {
  const answers = new WeakMap<Duplex, ServerResponse>();
  const listener: RequestListener = (request, response) => {
    answers.set(request.socket, response);
    app(request, response);
  };
  const server = openServer(listener, options);
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = REQUEST_TIMEOUT_MS;
  server.maxConnections = MAX_CONNECTIONS;
  server.on('drop', () => {
    options.metrics.refused.inc({ reason: 'too_many_connections' });
  });
  const close = prepareDrain(server, options.clock);
  // Any expectation but 100-continue is ignored, as RFC 9110 section 10.1.1 allows.
  server.on('checkExpectation', listener);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    refuse(error, socket, answers.get(socket), options);
  });
  // Without a listener node:http drops the connection, which tells the caller nothing.
  server.on('connect', (_request, socket) => {
    const message = 'CONNECT is not a method of this service.';
    endWith(socket, 'method_not_allowed', message, options, { allow: '' });
  });
  const { host, port } = options;
  const listening = await listen(server, { host, port, portVariable: 'CONTROL_PLANE_PORT' });
  return { port: listening, close };
}

function openServer(listener: RequestListener, options: ServerOptions): Server {
  const { certificate, metrics } = options;
  // The app itself refuses a missing Host, in the envelope.
  const settings = { requireHostHeader: false, noDelay: true };
  if (certificate === undefined) return createServer(settings, listener);
  const tls = { ...certificate.context, handshakeTimeout: REQUEST_TIMEOUT_MS };
  const server = createSecureServer({ ...settings, ...tls }, listener);
  certificate.onChange((context) => {
    server.setSecureContext(context);
  });
  // Of its own node:https would have it answered like HTTP that is malformed.
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (_error, socket) => {
    metrics.refused.inc({ reason: 'tls_handshake' });
    socket.destroy();
  });
  return server;
}

const INVALID = { label: 'not_http', reason: 'it is not valid HTTP' };

const REASONS: Readonly<Record<string, typeof INVALID>> = {
  HPE_HEADER_OVERFLOW: { label: 'header_overflow', reason: 'the header fields are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { label: 'slow', reason: 'the request did not arrive in time' },
};

/** Answers what node:http could not parse, in the envelope, and closes the connection. */
function refuse(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  last: ServerResponse | undefined,
  options: ServerOptions,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { label, reason } = REASONS[error.code ?? ''] ?? INVALID;
  options.metrics.refused.inc({ reason: label });
  // The body of a request that was answered by its head: a second answer would be taken for another's.
  if (last?.headersSent === true && !last.req.complete) {
    socket.end();
    return;
  }
  endWith(socket, 'invalid_request', `The request is not valid: ${reason}.`, options);
}

/** Ends a connection with an error for which node:http makes no response object. */
function endWith(
  socket: Duplex,
  code: ErrorCode,
  message: string,
  options: ServerOptions,
  more: Readonly<Record<string, string>> = {},
): void {
  const { status } = ERROR_TABLE[code];
  const requestId = options.newId('req');
  const body = errorBody(code, message, requestId);
  const limit = String(options.authFailureLimit);
  const fields = {
    [HEADER.requestId]: requestId,
    [HEADER.latency]: '0',
    [HEADER.rateLimitLimit]: limit,
    [HEADER.rateLimitRemaining]: limit,
    [HEADER.rateLimitReset]: '60',
    [HEADER.gatewayError]: code,
    ...more,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  const reason = STATUS_CODES[status] ?? '';
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${head.join('\r\n')}\r\n\r\n${body}`);
}
