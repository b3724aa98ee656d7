import { createServer } from 'node:net';

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

/**
 * A port of 127.0.0.1 that was free a moment ago. Somebody else may take it before its user binds
 * it, so a start that fails for that reason is tried again with another one.
 */
export function freePort(): Promise<number> {
  return probePort(0);
}
