import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NAMES } from '@gateway/shared/messaging/names';
import { eventually } from '@gateway/shared/test/eventually';
import { startNats } from '@gateway/local-stack/nats/start-nats';
import { jetstreamManager } from '@nats-io/jetstream';
import { readConfiguration } from '../configuration/store/configuration-rows.ts';
import { addRoute } from '../../test/configuration.ts';
import { openTestPublishing, type TestPublishing } from '../../test/publishing.ts';
import type { SnapshotStore } from './snapshot-store.ts';

type Server = Awaited<ReturnType<typeof startNats>>;

let folder: string;
let server: Server;
let publishing: TestPublishing;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'gateway-publish-'));
  server = await startServer('first');
  publishing = await openTestPublishing(server.url);
  await publishing.startPublisher();
  await published(0);
});
afterEach(async () => {
  await publishing.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function startServer(data: string, port?: number): Promise<Server> {
  const dataDir = path.join(folder, data);
  return startNats({ dataDir, log: () => undefined, ...(port === undefined ? {} : { port }) });
}

/** Waits until a snapshot with this number of routes is published and Postgres knows its version. */
async function published(routes: number): Promise<number> {
  return eventually(
    async () => {
      const snapshot = await publishing.readSnapshot();
      expect(snapshot.routes).toHaveLength(routes);
      const { store, environment } = publishing;
      const configuration = await readConfiguration(store.db, environment);
      expect(configuration).toMatchObject({ configVersion: snapshot.version, pendingIds: [] });
      return snapshot.version;
    },
    { deadlineMs: 20_000 },
  );
}

describe('the publisher during outages of NATS', () => {
  it('publishes a change that was made while NATS was away', async () => {
    await server.stop();
    await addRoute(publishing.store.db, publishing.environment, 'a');
    server = await startServer('first', server.port);
    expect(await published(1)).toBe(2);
  });

  it('publishes everything again if NATS came back without its data', async () => {
    await server.stop();
    server = await startServer('second', server.port);
    expect(await published(0)).toBe(2);
  });

  it('publishes everything again after an outage that ended between two checks', async () => {
    await publishing.stopPublishers();
    let checks = 0;
    const wrap = (store: SnapshotStore): SnapshotStore => ({
      ...store,
      isConnected: () => true,
      listObjects: () => store.listObjects().finally(() => (checks += 1)),
    });
    await publishing.startPublisher({ wrap });
    const version = await published(0);
    // From here on it checks the store only every 30 s, unless it has a reason.
    await eventually(() => expect(checks).toBeGreaterThan(0));
    const { connection } = publishing.nats;
    const manager = await jetstreamManager(connection);
    for (const name of [`KV_${NAMES.configBucket}`, `OBJ_${NAMES.snapshotBucket}`]) {
      await manager.streams.delete(name);
    }
    await manager.streams.delete(NAMES.configLog);
    await connection.reconnect();
    expect(await published(0)).toBeGreaterThan(version);
  });

  it('publishes a change although the buckets and the log were deleted', async () => {
    const manager = await jetstreamManager(publishing.nats.connection);
    await manager.streams.delete(`KV_${NAMES.configBucket}`);
    await manager.streams.delete(`OBJ_${NAMES.snapshotBucket}`);
    await manager.streams.delete(NAMES.configLog);
    await addRoute(publishing.store.db, publishing.environment, 'a');
    expect(await published(1)).toBeGreaterThan(1);
  });
});
