import type { Socket } from 'node:net';
import { createServer, type TlsOptions as TlsServerOptions, type TLSSocket } from 'node:tls';
import type { CertificateFolder } from '@gateway/shared/tls/certificate-folder';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';

export interface TlsOptions {
  readonly certificate: ServedCertificate;
  readonly handshakeTimeoutMs: number;
  readonly http1: (socket: TLSSocket) => void;
  readonly http2: (socket: TLSSocket) => void;
  /** Called when a handshake fails. The connection then closes. */
  readonly failed: (socket: TLSSocket, error: Error) => void;
}

/**
 * Returns a function that serves TLS on accepted connections. Each goes to the HTTP version chosen by ALPN (RFC 7301). A
 * caller without ALPN gets HTTP/1.1; a caller that offers neither version is refused by TLS. A new certificate applies
 * to new connections; existing ones continue.
 *
 * Each handshake begins with the context of the port. Its keys encrypt the session tickets of all certificates, so that a
 * caller can resume its session whatever certificate it got.
 */
export function serveTls(options: TlsOptions): (socket: Socket) => void {
  const { certificate, handshakeTimeoutMs: handshakeTimeout } = options;
  const { folder } = certificate;
  const server = createServer({
    ...certificate.context,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout,
    ...(folder === undefined ? {} : { SNICallback: chooseFrom(folder) }),
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') options.http2(socket);
    else options.http1(socket);
  });
  server.on('tlsClientError', (error, socket) => {
    options.failed(socket, error);
    socket.destroy();
  });
  certificate.onChange((context) => {
    server.setSecureContext(context);
  });
  // Node documents that a connection may be given to a server that does not listen.
  return (socket) => void server.emit('connection', socket);
}

function chooseFrom(folder: CertificateFolder): NonNullable<TlsServerOptions['SNICallback']> {
  return (name, done) => {
    done(null, folder.select(name)?.context);
  };
}
