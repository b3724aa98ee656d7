import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';

export interface SecureServerOptions {
  readonly certificate: ServedCertificate;
  readonly handshakeTimeoutMs: number;
  readonly http1: (socket: Socket) => void;
  readonly http2: (socket: TLSSocket) => void;
  /** Counts handshakes that failed. */
  readonly failed: () => void;
}

/**
 * A port with TLS, which hands each connection to the version of HTTP that its caller chose by ALPN
 * (RFC 7301); a caller that names no protocol speaks HTTP/1.1, one that offers neither is refused by
 * TLS itself. A new certificate is for new connections; those that stand go on.
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
