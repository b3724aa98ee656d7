import type { AddressInfo, Server } from 'node:net';

export interface ListenOptions {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** The setting that gives the port, for the operator of whom another one is asked. */
  readonly portVariable: string;
}

/**
 * Listens, and resolves with the port.
 *
 * @throws Error in one line that names the port and its setting, where another process has the port.
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
