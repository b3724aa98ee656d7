import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { errorCode } from './errors.ts';

/**
 * Checks that a port of 127.0.0.1 is free by listening on it for a moment. With port 0 the kernel picks one. Resolves with
 * the port; rejects with the error of the socket (EADDRINUSE, EACCES).
 */
export function probePort(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port was bound'));
        else resolve(address.port);
      });
    });
  });
}

/** Below the ports that Linux and macOS use for outgoing connections. */
const FIRST_PORT = 20_000;
const BLOCKS = 97;
const PORTS_OF_BLOCK = 120;
const TRIES = 20;

let next = randomInt(PORTS_OF_BLOCK);

/**
 * Finds a free port of 127.0.0.1 that is not used for outgoing connections. Another process may still take it before the caller
 * binds it. To avoid this between processes that call this function, each one takes the ports of its own block in
 * turn. The block depends on the pid; processes that run at the same time, such as the workers of a test run, have
 * neighbouring pids and therefore different blocks.
 */
export async function freePort(): Promise<number> {
  for (let tries = 1; tries < TRIES; tries += 1) {
    const port = FIRST_PORT + (process.pid % BLOCKS) * PORTS_OF_BLOCK + next;
    next = (next + 1) % PORTS_OF_BLOCK;
    try {
      return await probePort(port);
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE') throw error;
    }
  }
  return probePort(0);
}
