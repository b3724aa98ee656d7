import { isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { bareHost } from '@gateway/shared/net/upstream-addresses';
import type { Clock } from '@gateway/shared/clock';
import { ADDRESS_REFUSED } from '../names/guarded-lookup.ts';
import { READ_BUFFER, readBytes } from '../../framing/read-buffer.ts';
import type { AttemptError } from '../port.ts';
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

type ConnectFailure = Extract<
  AttemptError['name'],
  'connect_refused' | 'connect_timeout' | 'connect_failed' | 'tls_failed' | 'address_refused'
>;

const NAMES: Readonly<Record<string, ConnectFailure>> = {
  ECONNREFUSED: 'connect_refused',
  ETIMEDOUT: 'connect_timeout',
  [ADDRESS_REFUSED]: 'address_refused',
};

/** What a failure to connect is called in the record. */
export function connectFailure(code: string | undefined): ConnectFailure {
  return NAMES[code ?? ''] ?? 'connect_failed';
}

/** Opens a connection, encrypted for https; calls back once, with the socket or with why there is none. */
export function connect(
  options: ConnectOptions,
  callback: (socket: Socket | undefined, failure: ConnectFailure | undefined) => void,
): void {
  const { origin, received } = options;
  const secure = origin.protocol === 'https:';
  const host = bareHost(origin);
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
  const onError = (error: NodeJS.ErrnoException) => {
    settle(reached ? 'tls_failed' : connectFailure(error.code));
  };
  const onClose = () => {
    settle(reached ? 'tls_failed' : 'connect_failed');
  };
  const timer = options.clock.setTimer(options.timeoutMs, () => {
    // Where the process stood still, the connection may be there, and show in this turn of the event loop.
    setImmediate(() => settle('connect_timeout'));
  });
  socket.once('error', onError).once('close', onClose);
  socket.once(secure ? 'secureConnect' : 'connect', () => {
    settle(undefined);
  });
}
