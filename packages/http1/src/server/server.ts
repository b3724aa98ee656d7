import type { Socket } from 'node:net';
import { ServerConnection } from './connection.ts';
import { readDirectly } from './direct-reads.ts';
import type { Http1Options } from './options.ts';

/** The connections of HTTP/1.1 of the port. */
export interface Http1Server {
  accept(socket: Socket): ServerConnection;
  /** Cuts every connection, but for those that were handed over. */
  cut(): void;
}

/** Serves HTTP/1.1 (RFC 9112) on connections that were accepted elsewhere (docs/adr/0021). */
export function createHttp1Server(options: Http1Options): Http1Server {
  const open = new Set<ServerConnection>();
  return {
    accept(accepted) {
      const connection = new ServerConnection(readDirectly(accepted), options);
      open.add(connection);
      connection.socket.once('close', () => open.delete(connection));
      return connection;
    },
    cut() {
      for (const connection of open) if (!connection.handedOver) connection.socket.destroy();
    },
  };
}
