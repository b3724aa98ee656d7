import type { Server, Socket } from 'node:net';
import type { Clock, Timer } from '@gateway/shared/clock';

/**
 * Cuts the connections of callers that take nothing of what is sent to them, so that nobody holds
 * requests, and their memory, by not reading. It looks at all of them every `timeoutMs`, which costs a
 * request nothing; so a caller is cut after one to two times that.
 */
export function cutStalledConnections(server: Server, clock: Clock, timeoutMs: number): void {
  const open = new Set<Socket>();
  /** What each that had something waiting was sent of it, as of the last look. */
  let sentBytes = new Map<Socket, number>();
  let timer: Timer | undefined;

  function look(): void {
    const before = sentBytes;
    sentBytes = new Map();
    for (const socket of open) {
      if (socket.writableLength === 0) continue;
      const sent = socket.bytesWritten - socket.writableLength;
      if (before.get(socket) === sent) socket.destroy();
      else sentBytes.set(socket, sent);
    }
    timer = clock.setTimer(timeoutMs, look);
  }

  server.on('connection', (socket: Socket) => {
    open.add(socket);
    timer ??= clock.setTimer(timeoutMs, look);
    socket.once('close', () => {
      open.delete(socket);
      sentBytes.delete(socket);
      if (open.size > 0) return;
      timer?.cancel();
      timer = undefined;
    });
  });
}
