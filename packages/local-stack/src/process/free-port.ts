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
const PORTS = 12_000;
const TRIES = 20;

/**
 * A port of 127.0.0.1 that was free a moment ago, and is none that an outgoing connection gets by
 * chance. Somebody else may still take it before its user binds it.
 */
export async function freePort(): Promise<number> {
  for (let tries = 1; tries < TRIES; tries += 1) {
    try {
      return await probePort(FIRST_PORT + randomInt(PORTS));
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE') throw error;
    }
  }
  return probePort(0);
}
