import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';
import type { Http2Server } from './http2/server.ts';

export interface SecureServerOptions {
  readonly certificate: ServedCertificate;
  readonly http2: Http2Server;
  readonly handshakeTimeoutMs: number;
  /** Counts handshakes that failed. */
  readonly failed: () => void;
}

/**
 * A server of HTTP/1.1 with TLS that hands on what chose HTTP/2 by ALPN (RFC 7301); a caller that names
 * no protocol speaks HTTP/1.1, one that offers neither is refused by TLS itself. A new certificate is
 * for new connections; those that stand go on.
 */
export function createSecureServer<Response extends typeof ServerResponse<IncomingMessage>>(
  http1: ServerOptions<typeof IncomingMessage, Response>,
  options: SecureServerOptions,
): Server<typeof IncomingMessage, Response> {
  const { certificate, http2 } = options;
  const server = createServer({
    ...http1,
    ...certificate.context,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: options.handshakeTimeoutMs,
  });
  const serveHttp1 = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') http2.accept(socket);
    else for (const serve of serveHttp1) serve.call(server, socket);
  });
  // Of its own node:https would have it answered like HTTP that is malformed.
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (_error, socket) => {
    options.failed();
    socket.destroy();
  });
  certificate.onChange((context) => {
    server.setSecureContext(context);
  });
  return server;
}
