import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer, TLSSocket } from 'node:tls';
import type { Clock, Timer } from '@gateway/shared/clock';
import { pendingResponse } from './pending-response.ts';

export interface SweepLimits {
  /** Between two requests of a connection. */
  readonly keepAliveTimeoutMs: number;
  /** How long a caller may take nothing of what is sent to it. */
  readonly stalledTimeoutMs: number;
  /** Of the server; near to it resting connections make room sooner. */
  readonly maxConnections: number;
}

interface Watched {
  readBytes: number;
  sentBytes: number;
  idleSinceMs: number | undefined;
  stalledSinceMs: number | undefined;
  upgraded: boolean;
}

/** How often a connection is looked at within the shortest of its times. */
const LOOKS = 4;
/** From this part of all connections on it is crowded; then a connection may rest for the eighth. */
const CROWDED = 0.9;
const CROWDED_DIVISOR = 8;

/**
 * Cuts the connections on which nothing happens: those that rest between two requests, and those whose
 * callers take nothing of what is sent to them, so that nobody holds memory by not reading.
 *
 * It looks at all of them now and then, which costs a request nothing; timers of node:http for the same
 * took a twentieth of a request's CPU time. So a connection is cut up to a quarter of the shorter time
 * late, never early.
 *
 * Where connections run short those that rest are cut sooner, so that callers who hold connections and
 * ask for nothing do not keep others out for long.
 */
export function sweepConnections(server: Server, clock: Clock, limits: SweepLimits): void {
  const { keepAliveTimeoutMs, stalledTimeoutMs } = limits;
  const everyMs = Math.ceil(Math.min(keepAliveTimeoutMs, stalledTimeoutMs) / LOOKS);
  const open = new Map<Socket, Watched>();
  let timer: Timer | undefined;

  function isOverdue(socket: Socket, watched: Watched, nowMs: number, restMs: number): boolean {
    const { bytesRead, writableLength } = socket;
    const sentBytes = socket.bytesWritten - writableLength;
    const quiet = bytesRead === watched.readBytes && sentBytes === watched.sentBytes;
    watched.readBytes = bytesRead;
    watched.sentBytes = sentBytes;
    const resting = quiet && !watched.upgraded && pendingResponse(socket) === undefined;
    watched.idleSinceMs = resting ? (watched.idleSinceMs ?? nowMs) : undefined;
    watched.stalledSinceMs =
      quiet && writableLength > 0 ? (watched.stalledSinceMs ?? nowMs) : undefined;
    return (
      nowMs - (watched.idleSinceMs ?? nowMs) >= restMs ||
      nowMs - (watched.stalledSinceMs ?? nowMs) >= stalledTimeoutMs
    );
  }

  function look(): void {
    const nowMs = clock.monotonicMs();
    const crowded = open.size >= limits.maxConnections * CROWDED;
    const restMs = crowded ? keepAliveTimeoutMs / CROWDED_DIVISOR : keepAliveTimeoutMs;
    for (const [socket, watched] of open) {
      if (isOverdue(socket, watched, nowMs, restMs)) socket.destroy();
    }
    timer = clock.setTimer(everyMs, look);
  }

  // With TLS a connection begins with the end of its handshake, which has a bound of its own.
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    open.set(socket, {
      ...{ readBytes: 0, sentBytes: 0, upgraded: isHttp2(socket) },
      ...{ idleSinceMs: undefined, stalledSinceMs: undefined },
    });
    timer ??= clock.setTimer(everyMs, look);
    socket.once('close', () => {
      open.delete(socket);
      if (open.size > 0) return;
      timer?.cancel();
      timer = undefined;
    });
  });
  server.on('upgrade', ({ socket }) => {
    // It has an idle time-out of its own from here on.
    const watched = open.get(socket);
    if (watched !== undefined) watched.upgraded = true;
  });
}

/** It has bounds of its own (http2/watched-session.ts). */
function isHttp2(socket: Socket): boolean {
  return socket instanceof TLSSocket && socket.alpnProtocol === 'h2';
}
