import { isIP, type LookupFunction } from 'node:net';
import { connect as connectTls, TLSSocket, type SecureContext } from 'node:tls';
import type { Clock } from '../clock.ts';
import { DirectReads, type TakeBytes } from '../message/read-buffer.ts';
import type { ReadSocket } from './read-socket.ts';
import { ClientSocket } from './client-socket.ts';

export interface ConnectOptions {
  readonly origin: URL;
  readonly timeoutMs: number;
  readonly lookup: LookupFunction;
  readonly clock: Clock;
  /** The name to send and to verify in the certificate, instead of the host. */
  readonly serverName?: string | undefined;
  readonly secureContext?: SecureContext | undefined;
  /** Default: HTTP/1.1. */
  readonly protocol?: ProtocolChoice | undefined;
}

/**
 * Which version of HTTP the connection carries. `http2`: HTTP/2, which a server must choose over TLS (ALPN, RFC 7301) and
 * must know about without TLS (RFC 9113 section 3.3). `auto`: a server chooses over TLS; HTTP/1.1 without.
 */
export type ProtocolChoice = 'http1' | 'http2' | 'auto';

/** Why a connection was not opened. */
export type ConnectFailure =
  /** `late`: the timer was late, because this process was paused. */
  | { readonly phase: 'timeout'; readonly late: boolean }
  /** An exception of this process. */
  | { readonly phase: 'internal' }
  /** The TLS handshake failed; the server was reached. `code` says why; undefined: the server closed the connection. */
  | { readonly phase: 'tls'; readonly code: string | undefined }
  /** Over TLS the server did not choose HTTP/2, and nothing else will do. */
  | { readonly phase: 'alpn' }
  /** `code` is that of the system error or of the lookup. */
  | { readonly phase: 'connect'; readonly code: string | undefined };

/** Timers run some ms late on a busy machine; one that is later than this shows a pause of the process. */
const PAUSED_MS = 100;

/** Whether a timer that is run now was so late that this process was paused, and others may not be blamed. */
export function isLate(dueMs: number, nowMs: number): boolean {
  return nowMs - dueMs > PAUSED_MS;
}

/**
 * The name to send to a host and to verify in its certificate, which has no trailing dot in either (RFC 6066 section 3).
 * Empty for an address: it is not sent, and the certificate is verified for it.
 */
export function tlsServerName(host: string): string {
  return isIP(host) === 0 ? host.replace(/\.$/, '') : '';
}

/** An open connection to a server, and the version of HTTP that it carries. */
export interface ConnectedSocket extends Omit<ReadSocket, 'address'> {
  readonly protocol: 'http1' | 'http2';
}

const ALPN = {
  http1: ['http/1.1'],
  http2: ['h2'],
  auto: ['h2', 'http/1.1'],
} as const satisfies Readonly<Record<ProtocolChoice, readonly string[]>>;

/** The code of the alert with which a server refuses all that the client offers (RFC 7301 section 3.2). */
const NO_PROTOCOL = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL';

/** Opens a connection, with TLS for https. Calls back once, with the connection or the failure. */
export function connect(
  options: ConnectOptions,
  callback: (...result: [ConnectedSocket, undefined] | [undefined, ConnectFailure]) => void,
): void {
  const { origin, protocol: choice = 'http1' } = options;
  const secure = origin.protocol === 'https:';
  const host = origin.hostname.replace(/^\[|\]$/g, '');
  const onread = new DirectReads();
  const common = {
    host,
    port: Number(origin.port) || (secure ? 443 : 80),
    lookup: options.lookup,
    noDelay: true,
    keepAlive: true,
    onread,
  };
  const servername = options.serverName ?? tlsServerName(host);
  const { secureContext } = options;
  const socket = secure
    ? connectTls({
        ...common,
        servername,
        ALPNProtocols: [...ALPN[choice]],
        ...(secureContext !== undefined && { secureContext }),
      })
    : new ClientSocket(common).connect(common);
  let settled = false;
  /** Whether the TCP connection is open. A later failure is one of the TLS handshake. */
  let reached = false;
  if (secure) socket.once('connect', () => (reached = true));
  let protocol: ConnectedSocket['protocol'] = choice === 'http2' ? 'http2' : 'http1';
  const settle = (failure: ConnectFailure | undefined) => {
    if (settled) return;
    settled = true;
    timer.cancel();
    socket.off('error', onError).off('close', onClose);
    if (failure === undefined) {
      const readBy = (take: TakeBytes) => {
        onread.readBy(take);
      };
      callback({ socket, readBy, protocol }, undefined);
      return;
    }
    socket.on('error', () => undefined);
    socket.destroy();
    callback(undefined, failure);
  };
  const fail = (code: string | undefined) => {
    if (!reached) settle({ phase: 'connect', code });
    else if (choice === 'http2' && code === NO_PROTOCOL) settle({ phase: 'alpn' });
    else settle({ phase: 'tls', code });
  };
  const onError = (error: NodeJS.ErrnoException) => {
    fail(error.code);
  };
  const onClose = () => {
    fail(undefined);
  };
  const { clock, timeoutMs } = options;
  const startedMs = clock.monotonicMs();
  const timer = clock.setTimer(timeoutMs, () => {
    const late = isLate(startedMs + timeoutMs, clock.monotonicMs());
    // After a pause of the process the connection may already be open, which this turn of the event loop shows.
    setImmediate(() => settle({ phase: 'timeout', late }));
  });
  socket.once('error', onError).once('close', onClose);
  socket.once(secure ? 'secureConnect' : 'connect', () => {
    if (choice !== 'http1' && socket instanceof TLSSocket) {
      protocol = socket.alpnProtocol === 'h2' ? 'http2' : 'http1';
    }
    settle(choice === 'http2' && protocol === 'http1' ? { phase: 'alpn' } : undefined);
  });
}
