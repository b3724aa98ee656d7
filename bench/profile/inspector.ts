import { once } from 'node:events';
import { z } from 'zod';

const targetsSchema = z.array(z.object({ webSocketDebuggerUrl: z.string() })).min(1);
const replySchema = z.object({
  id: z.int().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

/** A session with the inspector of another Node process. */
export interface Inspector {
  call(method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown>;
  close(): void;
}

/** Connects to a process that runs with `--inspect` on this port of 127.0.0.1. */
export async function connectInspector(port: number, signal: AbortSignal): Promise<Inspector> {
  const listed = await fetch(`http://127.0.0.1:${port}/json/list`, { signal });
  const [target] = targetsSchema.parse(await listed.json());
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  await once(socket, 'open', { signal });

  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  const failAll = (error: Error) => {
    for (const one of waiting.values()) one.reject(error);
    waiting.clear();
  };
  socket.addEventListener('message', (event) => {
    const reply = replySchema.parse(JSON.parse(String(event.data)));
    const one = waiting.get(reply.id ?? 0);
    waiting.delete(reply.id ?? 0);
    if (reply.error === undefined) one?.resolve(reply.result);
    else one?.reject(new Error(reply.error.message));
  });
  socket.addEventListener('close', () => failAll(new Error('the profiled process went away')));
  signal.addEventListener('abort', () => failAll(new Error('broken off')), { once: true });

  return {
    call(method, params = {}) {
      const settled = Promise.withResolvers<unknown>();
      lastId += 1;
      waiting.set(lastId, settled);
      socket.send(JSON.stringify({ id: lastId, method, params }));
      return settled.promise;
    },
    close: () => socket.close(),
  };
}
