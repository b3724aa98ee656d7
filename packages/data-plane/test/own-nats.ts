import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startNats } from '@gateway/local-stack/nats/start-nats';
import type { Server } from '@gateway/local-stack/process/managed-process';
import { systemClock } from '@gateway/shared/clock';
import { connectNats } from '@gateway/shared/messaging/connection';
import { UndoList } from '@gateway/shared/test/undo-list';
import type { NatsConnection } from '@nats-io/nats-core';
import { captureLog } from './captured-log.ts';

/** NATS servers that a test may stop and start, and connections to them. */
export interface OwnNats {
  readonly folder: string;
  /** @param data the name of the data folder; a new name means an empty store */
  startServer(options?: { port?: number; data?: string }): Promise<Server>;
  /** Settles when the server is up, however late. */
  connect(url: string): Promise<NatsConnection>;
  /** Registers something that is closed before the connections. */
  defer(close: () => Promise<unknown>): void;
  close(): Promise<void>;
}

export async function openOwnNats(): Promise<OwnNats> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-sync-'));
  const servers: Server[] = [];
  const undo = new UndoList();
  return {
    folder,
    async startServer({ port, data = 'nats' } = {}) {
      const options = { dataDir: path.join(folder, data), log: () => undefined };
      const server = await startNats(port === undefined ? options : { ...options, port });
      servers.push(server);
      return server;
    },
    connect(url) {
      const abort = new AbortController();
      const { log } = captureLog();
      const options = { url, name: 'test', log, clock: systemClock, signal: abort.signal };
      const pending = connectNats(options);
      undo.add(async () => {
        abort.abort();
        await pending.then(
          (connection) => connection.close(),
          () => undefined,
        );
      });
      return pending;
    },
    defer: (close) => undo.add(close),
    async close() {
      // The servers are stopped last, as in production.
      await undo.run();
      await Promise.all(servers.map((server) => server.stop()));
      await rm(folder, { recursive: true });
    },
  };
}
