import type { Server, ServerResponse } from 'node:http';
import { pause, type Clock } from '@gateway/shared/clock';
import { stopListening } from '@gateway/shared/net/stop-listening';

/**
 * How long idle connections stay open at a stop. A call may already be on its way. The close of http.Server would
 * reset its connection, and the caller would not know whether its change was made.
 */
const GRACE_MS = 500;
/** How long running calls may take to end. Longer ones are cut off, so that the process stops in time. */
const CALLS_MS = 5000;

/**
 * Prepares a server for a graceful stop. Call it before the first request. The returned function stops accepting
 * connections, answers further calls with `Connection: close`, and resolves when all connections are closed.
 */
export function prepareDrain(server: Server, clock: Clock): () => Promise<void> {
  const running = new Set<ServerResponse>();
  const noneRunning = new AbortController();
  let draining = false;
  let graceOver = false;

  server.prependListener('request', (_request, response) => {
    running.add(response);
    response.once('close', () => {
      running.delete(response);
      if (graceOver && running.size === 0) noneRunning.abort();
    });
    if (draining) response.setHeader('connection', 'close');
  });

  return async () => {
    const allClosed = new AbortController();
    const closed = new Promise<void>((resolve) => {
      server.once('close', () => {
        allClosed.abort();
        resolve();
      });
    });
    await stopListening(server);
    // A caller that is asked to connect again before that could do so while the port closes, and would be reset.
    draining = true;
    for (const response of running) {
      if (!response.headersSent) response.setHeader('connection', 'close');
    }
    await pause(clock, GRACE_MS, allClosed.signal);
    graceOver = true;
    if (running.size > 0) await pause(clock, CALLS_MS, noneRunning.signal);
    server.closeAllConnections();
    await closed;
  };
}
