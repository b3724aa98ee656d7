import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

export interface StuckListener {
  readonly url: string;
  close(): Promise<void>;
}

/** The connections that the kernel accepts for a listener with this backlog. */
const BACKLOG = 1;
const TAKEN_BY_KERNEL = BACKLOG + 1;
const FILLING = TAKEN_BY_KERNEL + 2;
/** The process exits by itself after this time. */
const STUCK_MS = 120_000;

/**
 * Starts a port that neither accepts nor refuses a connection: a process listens and accepts none, and the queue of the
 * kernel is full.
 */
export async function startStuckListener(): Promise<StuckListener> {
  const child = fork(fileURLToPath(import.meta.url), { execArgv: [] });
  const [port] = (await once(child, 'message')) as [number];
  const filling: Socket[] = [];
  let taken = 0;
  await new Promise<void>((resolve) => {
    for (let count = 0; count < FILLING; count += 1) {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => undefined);
      socket.once('connect', () => {
        taken += 1;
        if (taken === TAKEN_BY_KERNEL) resolve();
      });
      filling.push(socket);
    }
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      for (const socket of filling) socket.destroy();
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function listenAndStick(): void {
  const server = createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, () => {
    process.send?.((server.address() as AddressInfo).port, () => {
      // From here on the event loop, which would accept, is blocked.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STUCK_MS);
      process.exit(0);
    });
  });
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  listenAndStick();
}
