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

/** Connects to a process that was started with `--inspect=127.0.0.1:<port>`. */
export async function connectInspector(port: number, signal: AbortSignal): Promise<Inspector> {
  const listed = await fetch(`http://127.0.0.1:${port}/json/list`, { signal });
  const [target] = targetsSchema.parse(await listed.json());
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  await once(socket, 'open', { signal });

  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  const failAll = (error: Error) => {
    for (const call of pending.values()) call.reject(error);
    pending.clear();
  };
  socket.addEventListener('message', (event) => {
    const reply = replySchema.parse(JSON.parse(String(event.data)));
    const call = pending.get(reply.id ?? 0);
    pending.delete(reply.id ?? 0);
    if (reply.error === undefined) call?.resolve(reply.result);
    else call?.reject(new Error(reply.error.message));
  });
  socket.addEventListener('close', () =>
    failAll(new Error('the profiled process closed the connection')),
  );
  signal.addEventListener('abort', () => failAll(new Error('the run was aborted')), { once: true });

  return {
    call(method, params = {}) {
      const settled = Promise.withResolvers<unknown>();
      lastId += 1;
      pending.set(lastId, settled);
      socket.send(JSON.stringify({ id: lastId, method, params }));
      return settled.promise;
    },
    close: () => socket.close(),
  };
}
