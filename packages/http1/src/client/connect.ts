import { isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import type { Clock } from '../clock.ts';
import { READ_BUFFER, readBytes } from '../message/read-buffer.ts';
import { UpstreamSocket } from './upstream-socket.ts';

export interface ConnectOptions {
  readonly origin: URL;
  readonly timeoutMs: number;
  readonly lookup: LookupFunction;
  readonly clock: Clock;
  /** Asked for and looked for in the certificate, in place of the host. */
  readonly serverName?: string | undefined;
  readonly secureContext?: SecureContext | undefined;
  /** Bytes that arrive, good until the call returns. */
  readonly received: (bytes: Buffer) => void;
}

/** Why a connection was not opened. */
export type ConnectFailure =
  | { readonly phase: 'timeout' }
  /** The handshake of TLS failed: the peer was reached. */
  | { readonly phase: 'tls' }
  /** `code`: that of the system's error, or of the lookup's. */
  | { readonly phase: 'connect'; readonly code: string | undefined };

/** Opens a connection, encrypted for https; calls back once, with the socket or with why there is none. */
export function connect(
  options: ConnectOptions,
  callback: (...result: [Socket, undefined] | [undefined, ConnectFailure]) => void,
): void {
  const { origin, received } = options;
  const secure = origin.protocol === 'https:';
  const host = origin.hostname.replace(/^\[|\]$/g, '');
  const common = {
    host,
    port: Number(origin.port) || (secure ? 443 : 80),
    lookup: options.lookup,
    noDelay: true,
    keepAlive: true,
    onread: {
      buffer: READ_BUFFER,
      callback(bytes: number) {
        received(readBytes(bytes));
        return true;
      },
    },
  };
  // An address is no server name (RFC 6066 section 3); the certificate is held against it all the same.
  const servername = options.serverName ?? (isIP(host) === 0 ? host : '');
  const { secureContext } = options;
  const socket = secure
    ? connectTls({
        ...common,
        servername,
        ALPNProtocols: ['http/1.1'],
        ...(secureContext !== undefined && { secureContext }),
      })
    : new UpstreamSocket(common).connect(common);
  let settled = false;
  /** The other side is there; what fails from here on is the handshake. */
  let reached = false;
  if (secure) socket.once('connect', () => (reached = true));
  const settle = (failure: ConnectFailure | undefined) => {
    if (settled) return;
    settled = true;
    timer.cancel();
    socket.off('error', onError).off('close', onClose);
    if (failure === undefined) {
      callback(socket, undefined);
      return;
    }
    socket.on('error', () => undefined);
    socket.destroy();
    callback(undefined, failure);
  };
  const fail = (code: string | undefined) => {
    settle(reached ? { phase: 'tls' } : { phase: 'connect', code });
  };
  const onError = (error: NodeJS.ErrnoException) => {
    fail(error.code);
  };
  const onClose = () => {
    fail(undefined);
  };
  const timer = options.clock.setTimer(options.timeoutMs, () => {
    // Where the process stood still, the connection may be there, and show in this turn of the event loop.
    setImmediate(() => settle({ phase: 'timeout' }));
  });
  socket.once('error', onError).once('close', onClose);
  socket.once(secure ? 'secureConnect' : 'connect', () => {
    settle(undefined);
  });
}
