import { createServer } from 'node:net';

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
