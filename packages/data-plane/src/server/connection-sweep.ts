import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '@gateway/shared/clock';
import { pendingResponse } from './pending-response.ts';

export interface SweepLimits {
  /** Between two requests of a connection. */
  readonly keepAliveTimeoutMs: number;
  /** How long a caller may take nothing of what is sent to it. */
  readonly stalledTimeoutMs: number;
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

/**
 * Cuts the connections on which nothing happens: those that rest between two requests, and those whose
 * callers take nothing of what is sent to them, so that nobody holds memory by not reading.
 *
 * It looks at all of them now and then, which costs a request nothing; timers of node:http for the same
 * took a twentieth of a request's CPU time. So a connection is cut up to a quarter of the shorter time
 * late, never early.
 */
export function sweepConnections(server: Server, clock: Clock, limits: SweepLimits): void {
  const { keepAliveTimeoutMs, stalledTimeoutMs } = limits;
  const everyMs = Math.ceil(Math.min(keepAliveTimeoutMs, stalledTimeoutMs) / LOOKS);
  const open = new Map<Socket, Watched>();
  let timer: Timer | undefined;

  function isOverdue(socket: Socket, watched: Watched, nowMs: number): boolean {
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
      nowMs - (watched.idleSinceMs ?? nowMs) >= keepAliveTimeoutMs ||
      nowMs - (watched.stalledSinceMs ?? nowMs) >= stalledTimeoutMs
    );
  }

  function look(): void {
    const nowMs = clock.monotonicMs();
    for (const [socket, watched] of open) {
      if (isOverdue(socket, watched, nowMs)) socket.destroy();
    }
    timer = clock.setTimer(everyMs, look);
  }

  server.on('connection', (socket: Socket) => {
    open.set(socket, {
      ...{ readBytes: 0, sentBytes: 0, upgraded: false },
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
