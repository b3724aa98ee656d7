import { createServer, connect, type Socket } from 'node:net';
import { keptPort } from './kept-port.ts';

/** A TCP proxy in front of a server with which a test simulates outages. */
export interface TcpGate {
  readonly port: number;
  /** `open` forwards bytes, `stalled` keeps connections and forwards nothing, `shut` refuses connections. */
  set(state: 'open' | 'stalled' | 'shut'): Promise<void>;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1 and forwards each connection to the port of the server. */
export async function openTcpGate(targetPort: number): Promise<TcpGate> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let stalled = false;

  const server = createServer((inner) => {
    const outer = connect(targetPort, '127.0.0.1');
    const pair = [inner, outer] as const;
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      inner.destroy();
      outer.destroy();
    };
    for (const [from, to] of [pair, [outer, inner] as const]) {
      from.on('error', end).on('close', end);
      from.pipe(to);
      if (stalled) from.unpipe(to).pause();
    }
  });

  function listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
  }

  function shut(): Promise<void> {
    if (!server.listening) return Promise.resolve();
    const closed = new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
    for (const [inner, outer] of pairs) {
      inner.destroy();
      outer.destroy();
    }
    return closed;
  }

  const port = await keptPort();
  await listen(port);
  return {
    port,
    async set(state) {
      stalled = state === 'stalled';
      if (state === 'shut') {
        await shut();
        return;
      }
      if (!server.listening) await listen(port);
      for (const [inner, outer] of pairs) {
        for (const [from, to] of [[inner, outer] as const, [outer, inner] as const]) {
          if (stalled) from.unpipe(to).pause();
          else from.pipe(to);
        }
      }
    },
    close: shut,
  };
}
