import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';

export interface SecureServerOptions {
  readonly certificate: ServedCertificate;
  readonly handshakeTimeoutMs: number;
  readonly http1: (socket: Socket) => void;
  readonly http2: (socket: TLSSocket) => void;
  /** Counts failed handshakes. */
  readonly failed: () => void;
}

/**
 * A TLS server that hands each connection to the HTTP version chosen by ALPN (RFC 7301). A caller without
 * ALPN gets HTTP/1.1; a caller that offers neither version is refused by TLS. A new certificate applies to
 * new connections; existing ones continue.
 */
export function createSecureServer(options: SecureServerOptions): Server {
  const { certificate } = options;
  const server = createServer({
    ...certificate.context,
    noDelay: true,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: options.handshakeTimeoutMs,
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') options.http2(socket);
    else options.http1(socket);
  });
  server.on('tlsClientError', (_error, socket) => {
    options.failed();
    socket.destroy();
  });
  certificate.onChange((context) => {
    server.setSecureContext(context);
  });
  return server;
}
