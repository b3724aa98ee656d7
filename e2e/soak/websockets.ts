import { setTimeout as delay } from 'node:timers/promises';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { CallerEnvironment } from './call-kinds.ts';

const WEBSOCKETS = 6;
const MESSAGE_EVERY_MS = 500;
const MESSAGE = Buffer.alloc(2000, 'message ');
const NAME = 'WebSocket';

/**
 * Keeps a few WebSockets open. Each carries messages both ways for a few seconds, is closed, and is
 * opened again. Every second one is closed without a close frame.
 */
export function keepWebSockets(
  environment: CallerEnvironment,
  signal: AbortSignal,
): Promise<unknown> {
  return Promise.all(
    Array.from({ length: WEBSOCKETS }, async (_, index) => {
      for (let count = index; !signal.aborted; count += 1) {
        await oneWebSocket(environment, count, signal).catch((error: unknown) => {
          // The end of the load interrupts the calls in flight.
          if (!signal.aborted) environment.outcomes.add(NAME, `failed (${String(error)})`, false);
        });
        await delay(200);
      }
    }),
  );
}

async function oneWebSocket(
  environment: CallerEnvironment,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  const url = `${environment.base().replace('http', 'ws')}/v1/proxy/steady/socket`;
  const headers = { authorization: `Bearer ${environment.token()}` };
  const socket = new WebSocket(url, { headers });
  socket.on('error', () => undefined);
  try {
    let requestId: string | undefined;
    socket.once('upgrade', (response) => (requestId = String(response.headers['x-request-id'])));
    await once(socket, 'open', { signal });
    const messages = 6 + (count % 24);
    for (let left = messages; left > 0 && !signal.aborted; left -= 1) {
      const echoed = once(socket, 'message', { signal });
      socket.send(MESSAGE);
      await echoed;
      await delay(MESSAGE_EVERY_MS, undefined, { signal });
    }
    environment.outcomes.add(NAME, 'ended normally', true, requestId);
    if (count % 2 === 0) {
      socket.close(1000);
      await once(socket, 'close', { signal });
    }
  } finally {
    socket.terminate();
  }
}
