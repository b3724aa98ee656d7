import type { AddressInfo, Server } from 'node:net';

/** The log of the process, as far as it is needed here. */
interface ErrorLog {
  error(fields: object, message: string): void;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The setting of the port, which the error message names. */
  readonly portVariable: string;
  readonly log: ErrorLog;
  /** Called for each connection that cannot be accepted. */
  readonly notAccepted?: () => void;
}

/**
 * Listens and resolves with the port. The server listens on if it cannot accept a connection, because the process has no
 * file descriptor or memory left.
 *
 * @throws Error of one line that names the port and its setting if the port is in use
 */
export function listen(server: Server, options: ListenOptions): Promise<number> {
  const { host, port, portVariable } = options;
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => {
      const inUse = error.code === 'EADDRINUSE';
      reject(inUse ? new Error(`port ${port} is in use; set ${portVariable}`) : error);
    };
    server.once('error', failed);
    server.listen(port, host, () => {
      const { port: listening } = server.address() as AddressInfo;
      server.off('error', failed).on('error', acceptErrors(options, listening));
      resolve(listening);
    });
  });
}

/** Counts the errors, and logs the number each time that it has doubled. */
function acceptErrors({ log, notAccepted }: ListenOptions, port: number): (error: Error) => void {
  let errors = 0;
  let logsAt = 1;
  return (error) => {
    errors += 1;
    notAccepted?.();
    if (errors < logsAt) return;
    logsAt *= 2;
    log.error({ port, errors, reason: String(error) }, 'connections not accepted');
  };
}
