import { createServer } from 'node:net';

/** Above the ports that are blocked in `fetch`, below those of `freePort` and those that the kernel gives away. */
const FIRST_PORT = 12_000;
const BLOCKS = 66;
const PORTS_OF_BLOCK = 120;

let next = 0;

/**
 * A free port of 127.0.0.1 that stays free while the test does not listen on it. The kernel would give a port that it chose
 * for `listen(0)`, and that was closed, to any other server: a request to it would then reach the server of another suite.
 * Each process gives the ports of its own block in turn, as `freePort` does, so that two suites do not get the same one.
 */
export async function keptPort(): Promise<number> {
  for (let tries = 0; tries < PORTS_OF_BLOCK; tries += 1) {
    const port = FIRST_PORT + (process.pid % BLOCKS) * PORTS_OF_BLOCK + next;
    next = (next + 1) % PORTS_OF_BLOCK;
    if (await isFree(port)) return port;
  }
  throw new Error(
    `none of the ports ${FIRST_PORT} to ${FIRST_PORT + BLOCKS * PORTS_OF_BLOCK} of this process is free`,
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}
