import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { pause, type Clock } from '@gateway/shared/clock';

/**
 * How long connections stay open that are idle: a call that was sent before the caller could know of
 * the stop is still answered. http.Server's own close would cut it, and a caller that made something
 * would not know whether it was made.
 */
const GRACE_MS = 500;
/** Calls that have not ended after this long are cut, so that the process stops within its bound. */
const CALLS_MS = 5000;

/**
 * Prepares a server to be stopped; to be called before its first request. The function that it gives
 * takes no new connection, answers what still arrives with `Connection: close`, and resolves when all
 * connections are closed.
 */
export function prepareDrain(server: Server, clock: Clock): () => Promise<void> {
  const underWay = new Set<ServerResponse>();
  const idle = new AbortController();
  let draining = false;
  let graceIsOver = false;

  server.prependListener('request', (_request, response) => {
    underWay.add(response);
    response.once('close', () => {
      underWay.delete(response);
      if (graceIsOver && underWay.size === 0) idle.abort();
    });
    if (draining) response.setHeader('connection', 'close');
  });

  return async () => {
    draining = true;
    for (const response of underWay) {
      if (!response.headersSent) response.setHeader('connection', 'close');
    }
    const allClosed = new AbortController();
    const closed = new Promise<void>((resolve) => {
      NetServer.prototype.close.call(server, () => {
        allClosed.abort();
        resolve();
      });
    });
    await pause(clock, GRACE_MS, allClosed.signal);
    graceIsOver = true;
    if (underWay.size > 0) await pause(clock, CALLS_MS, idle.signal);
    server.closeAllConnections();
    await closed;
  };
}
