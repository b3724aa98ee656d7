import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Above the ports that are blocked in `fetch`, below those of `freePort` and those that the kernel gives away. */
const FIRST_PORT = 12_000;
const END_PORT = 20_000;

/**
 * A free port of 127.0.0.1 that stays free while the test does not listen on it. The kernel would give a port that it chose
 * for `listen(0)`, and that was closed, to any other server: a request to it would then reach the server of another suite.
 */
export async function keptPort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, END_PORT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}
