import type { AddressInfo, Server } from 'node:net';

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The setting of the port, which the error message names. */
  readonly portVariable: string;
}

/**
 * Listens and resolves with the port.
 *
 * @throws Error of one line that names the port and its setting if the port is in use
 */
export function listen(server: Server, options: ListenOptions): Promise<number> {
  const { host, port, portVariable } = options;
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const inUse = error.code === 'EADDRINUSE';
      reject(inUse ? new Error(`port ${port} is in use; set ${portVariable}`) : error);
    });
    server.listen(port, host, () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
}
