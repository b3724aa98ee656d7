import { setTimeout as delay } from 'node:timers/promises';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Ground } from './kinds.ts';

const TUNNELS = 6;
const MESSAGE_EVERY_MS = 500;
const MESSAGE = Buffer.alloc(2000, 'message ');
const NAME = 'WebSocket';

/**
 * Keeps a few WebSockets open. Each carries messages both ways for a few seconds, is closed, and is
 * opened again. Every second one is closed without a close frame.
 */
export function keepTunnels(ground: Ground, signal: AbortSignal): Promise<unknown> {
  return Promise.all(
    Array.from({ length: TUNNELS }, async (_, index) => {
      for (let count = index; !signal.aborted; count += 1) {
        await oneTunnel(ground, count, signal).catch((error: unknown) => {
          // The end of the load breaks off what is under way.
          if (!signal.aborted) ground.ledger.note(NAME, `failed (${String(error)})`, false);
        });
        await delay(200);
      }
    }),
  );
}

async function oneTunnel(ground: Ground, count: number, signal: AbortSignal): Promise<void> {
  const url = `${ground.base().replace('http', 'ws')}/v1/proxy/steady/socket`;
  const headers = { authorization: `Bearer ${ground.token()}` };
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
    ground.ledger.note(NAME, 'ended in order', true, requestId);
    if (count % 2 === 0) {
      socket.close(1000);
      await once(socket, 'close', { signal });
    }
  } finally {
    socket.terminate();
  }
}
