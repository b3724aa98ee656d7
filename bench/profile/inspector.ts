import { once } from 'node:events';
import { z } from 'zod';
import type { Run } from '../lab/run.ts';

const targetsSchema = z.array(z.object({ webSocketDebuggerUrl: z.string() })).min(1);
const replySchema = z.object({
  id: z.int().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

/** Calls a method of the inspector of another Node process. */
export type Inspect = (
  method: string,
  params?: Readonly<Record<string, unknown>>,
) => Promise<unknown>;

/** Connects to a process that was started with `--inspect=127.0.0.1:<port>`; disconnects at the end of the run. */
export async function connectInspector(port: number, run: Run): Promise<Inspect> {
  const { signal } = run;
  const listed = await fetch(`http://127.0.0.1:${port}/json/list`, { signal });
  const [target] = targetsSchema.parse(await listed.json());
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  run.defer(() => socket.close());
  await once(socket, 'open', { signal });

  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  const failAll = (error: Error) => {
    for (const call of pending.values()) call.reject(error);
    pending.clear();
  };
  socket.addEventListener('message', (event) => {
    const { id = 0, error, result } = replySchema.parse(JSON.parse(String(event.data)));
    const call = pending.get(id);
    pending.delete(id);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(error.message));
  });
  socket.addEventListener('close', () =>
    failAll(new Error('the profiled process closed the connection')),
  );
  signal.addEventListener('abort', () => failAll(new Error('the run was aborted')), { once: true });
  return (method, params = {}) => {
    const settled = Promise.withResolvers<unknown>();
    lastId += 1;
    pending.set(lastId, settled);
    socket.send(JSON.stringify({ id: lastId, method, params }));
    return settled.promise;
  };
}
