import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { errorCode } from './error-code.ts';

/**
 * Whether 127.0.0.1 would let us listen on this port now; with port 0 the kernel picks one.
 * Resolves with the port, rejects with the socket's error (EADDRINUSE, EACCES).
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

/** Below those from which Linux and macOS take the ports of outgoing connections. */
const FIRST_PORT = 20_000;
const BLOCKS = 97;
const PORTS_OF_BLOCK = 120;
const TRIES = 20;

let next = randomInt(PORTS_OF_BLOCK);

/**
 * A port of 127.0.0.1 that was free a moment ago, and is none that an outgoing connection gets by
 * chance. Somebody else may still take it before its user binds it, a second later where that is a process
 * that starts. So that those who also ask here are not among them, each process takes the ports
 * of a block of its own, by its id, one after the other: processes that run side by side, such as the
 * workers of a test run, have ids near to each other, and therefore different blocks.
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
