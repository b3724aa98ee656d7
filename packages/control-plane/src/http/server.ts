import {
  createServer,
  maxHeaderSize,
  STATUS_CODES,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Clock } from '@gateway/shared/clock';
import { ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import { errorContent } from '@gateway/shared/errors/error-content';
import { HEADER } from '@gateway/shared/http/headers';
import type { createIdFactory } from '@gateway/shared/ids';
import { listen } from '@gateway/shared/net/listen';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { prepareDrain } from './drain.ts';
import type { HttpMetrics } from './metrics.ts';

export interface ManagementServer {
  readonly port: number;
  /** Stops accepting connections and resolves when all are closed; see drain.ts. */
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly port: number;
  readonly host: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly newId: ReturnType<typeof createIdFactory>;
  /** For the rate-limit headers of the response to a request that cannot be parsed. */
  readonly authFailureLimit: number;
  readonly metrics: HttpMetrics;
  /** If set, the port uses TLS. */
  readonly certificate?: ServedCertificate | undefined;
}

/** How long a whole request may take to arrive. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Bounds the memory: each connection may hold a body of 1 MiB. */
const MAX_CONNECTIONS = 1000;

/** Starts the management port. */
export async function startServer(
  app: RequestListener,
  options: ServerOptions,
): Promise<ManagementServer> {
  const lastResponses = new WeakMap<Duplex, ServerResponse>();
  const listener: RequestListener = (request, response) => {
    lastResponses.set(request.socket, response);
    app(request, response);
  };
  const server = openServer(listener, options);
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = REQUEST_TIMEOUT_MS;
  server.maxConnections = MAX_CONNECTIONS;
  // An increase is only seen of a series that exists before its first event.
  for (const reason of REFUSED) options.metrics.refused.inc({ reason }, 0);
  server.on('drop', () => {
    options.metrics.refused.inc({ reason: 'too_many_connections' });
  });
  const close = prepareDrain(server, options.clock);
  // An `Expect` other than 100-continue is ignored, as RFC 9110 section 10.1.1 allows.
  server.on('checkExpectation', listener);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    refuse(error, socket, lastResponses.get(socket), options);
  });
  // Without this listener node:http closes the connection without a response.
  server.on('connect', (_request, socket) => {
    const message = 'The method CONNECT is not supported.';
    endWithError(socket, 'method_not_allowed', message, options, { allow: '' });
  });
  const { host, port, log } = options;
  const portVariable = 'CONTROL_PLANE_PORT';
  const notAccepted = () => options.metrics.refused.inc({ reason: 'not_accepted' });
  const listening = await listen(server, { host, port, portVariable, log, notAccepted });
  return { port: listening, close };
}

function openServer(listener: RequestListener, options: ServerOptions): Server {
  const { certificate, metrics } = options;
  // The app refuses a missing Host with an error envelope.
  const settings = { requireHostHeader: false, noDelay: true };
  if (certificate === undefined) return createServer(settings, listener);
  const tls = { ...certificate.context, handshakeTimeout: REQUEST_TIMEOUT_MS };
  const server = createSecureServer({ ...settings, ...tls }, listener);
  certificate.onChange((context) => {
    server.setSecureContext(context);
  });
  // By default node:https reports it as clientError, which would write an HTTP response.
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (_error, socket) => {
    metrics.refused.inc({ reason: 'tls_handshake' });
    socket.destroy();
  });
  return server;
}

interface RefusalKind {
  readonly code: ErrorCode;
  readonly label: string;
  readonly reason: string;
}

const INVALID: RefusalKind = {
  code: 'invalid_request',
  label: 'not_http',
  reason: 'it is not valid HTTP',
};
const TARGET_TOO_LONG: RefusalKind = {
  code: 'uri_too_long',
  label: 'target_overflow',
  reason: 'the target is too long',
};

const KINDS: Readonly<Record<string, RefusalKind>> = {
  HPE_HEADER_OVERFLOW: {
    code: 'header_fields_too_large',
    label: 'header_overflow',
    reason: 'the header fields are too large',
  },
  HPE_INVALID_VERSION: {
    code: 'http_version_not_supported',
    label: 'version',
    reason: 'its HTTP version is not supported',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'request_timeout',
    label: 'slow',
    reason: 'the request did not arrive in time',
  },
};

const REFUSED = [
  'too_many_connections',
  'not_accepted',
  'tls_handshake',
  ...[INVALID, TARGET_TOO_LONG, ...Object.values(KINDS)].map(({ label }) => label),
];

/** The packet that made a head too large: it is the target if it has no line end. node:http does not tell. */
const INCOMPLETE_LINE = /^[A-Z-]{1,32} [!-~]*$/;

function kindOf(error: ClientError): RefusalKind {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const start = error.rawPacket?.toString('latin1', 0, maxHeaderSize) ?? '';
    if (INCOMPLETE_LINE.test(start)) return TARGET_TOO_LONG;
  }
  return KINDS[error.code ?? ''] ?? INVALID;
}

/** An error of node:http, with the bytes that caused it. */
interface ClientError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/** Answers a request that node:http could not parse with an error envelope, and closes the connection. */
function refuse(
  error: ClientError,
  socket: Duplex,
  last: ServerResponse | undefined,
  options: ServerOptions,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { code, label, reason } = kindOf(error);
  options.metrics.refused.inc({ reason: label });
  // The request was answered before its body arrived. A second response would be taken for that of the next request.
  if (last?.headersSent === true && !last.req.complete) {
    socket.end();
    return;
  }
  endWithError(socket, code, `The request is not valid: ${reason}.`, options);
}

/** Ends a connection with an error, without a response object of node:http. */
function endWithError(
  socket: Duplex,
  code: ErrorCode,
  message: string,
  options: ServerOptions,
  more: Readonly<Record<string, string>> = {},
): void {
  const { status } = ERROR_TABLE[code];
  const requestId = options.newId('req');
  const { type, body } = errorContent(undefined, code, message, requestId);
  const limit = String(options.authFailureLimit);
  const fields = {
    [HEADER.requestId]: requestId,
    [HEADER.latency]: '0',
    [HEADER.rateLimitLimit]: limit,
    [HEADER.rateLimitRemaining]: limit,
    [HEADER.rateLimitReset]: '60',
    [HEADER.gatewayError]: code,
    ...more,
    'content-type': type,
    vary: 'Accept',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  const reason = STATUS_CODES[status] ?? '';
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${head.join('\r\n')}\r\n\r\n${body}`);
}
