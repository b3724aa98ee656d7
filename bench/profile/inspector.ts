import { once } from 'node:events';
import type { Run } from '../lab/run.ts';

/** Calls a method of the inspector of another Node process, one at a time. The caller knows the type of the answer. */
export type Inspect = <T>(method: string, params?: object) => Promise<T>;

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** Connects to a process that was started with `--inspect=127.0.0.1:<port>`; disconnects at the end of the run. */
export async function connectInspector(port: number, run: Run): Promise<Inspect> {
  const listed = await fetch(`http://127.0.0.1:${port}/json/list`, { signal: run.signal });
  const [target] = (await listed.json()) as [{ readonly webSocketDebuggerUrl: string }];
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  const closed = new AbortController();
  socket.addEventListener('close', () => closed.abort());
  run.defer(() => socket.close());
  const signal = AbortSignal.any([run.signal, closed.signal]);
  await once(socket, 'open', { signal });
  let id = 0;
  return async <T>(method: string, params = {}) => {
    id += 1;
    socket.send(JSON.stringify({ id, method, params }));
    let reply: Reply = {};
    while (reply.id !== id) {
      const [event] = (await once(socket, 'message', { signal })) as [{ readonly data: string }];
      reply = JSON.parse(event.data) as Reply;
    }
    if (reply.error !== undefined) throw new Error(reply.error.message);
    return reply.result as T;
  };
}
