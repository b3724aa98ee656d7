import { ChurningSet } from '../../churning-set.ts';
import { FieldBlocks } from '../../message/repeated-fields.ts';
import { createRequestSyntax } from '../../message/request-head.ts';
import { ServerConnection } from './connection.ts';
import type { ReadSocket } from '../../sockets/read-socket.ts';
import { createHttpDate } from '../../message/http-date.ts';
import type { ServerOptions } from './options.ts';

/** The HTTP/1.1 connections of one port. */
export interface Http1Server {
  /** Serves a connection. */
  accept(socket: ReadSocket): ServerConnection;
  /**
   * Closes connections because the server stops. Reads on those whose callers are still sending the rest of an answered
   * request. Resolves once they have closed, which takes up to `lingerTimeoutMs`.
   */
  close(): Promise<void>;
  /** Closes every connection now, because the server stops. */
  destroy(): void;
}

/** Serves HTTP/1.1 (RFC 9112) on connections that were accepted elsewhere (docs/adr/0021). */
export function createHttp1Server(options: ServerOptions): Http1Server {
  const open = new ChurningSet<ServerConnection>();
  const blocks = new FieldBlocks(options.clock);
  const state = { syntax: createRequestSyntax(blocks), date: createHttpDate(options.clock) };
  return {
    accept(socket) {
      const connection = new ServerConnection(socket, options, state);
      open.add(connection);
      connection.socket.on('close', () => {
        open.remove(connection);
      });
      return connection;
    },
    async close() {
      await Promise.all(
        open.all().map(
          (connection) =>
            new Promise<void>((resolve) => {
              connection.socket.once('close', () => {
                resolve();
              });
              connection.close();
            }),
        ),
      );
    },
    destroy() {
      blocks.clear();
      for (const connection of open.all()) connection.guard.end('drained');
    },
  };
}
