import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { systemClock } from '@gateway/shared/clock';
import { systemRandom } from '@gateway/shared/ids';
import { NAMES } from '@gateway/shared/messaging/names';
import { openPointer, openSnapshot } from '@gateway/shared/snapshot/codec';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/testing/eventually';
import { startNats } from '@gateway/local-stack/nats';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { Objm } from '@nats-io/obj';
import { readConfiguration } from '../store/configuration-rows.ts';
import { addEnvironment, addRoute, uniqueEnvironment } from '../testing/configuration.ts';
import { openTestNats, type TestNats } from '../testing/nats.ts';
import { openTestStore, type TestStore } from '../testing/store.ts';
import { createNatsSnapshotStore } from './nats-snapshot-store.ts';
import { createPublishMetrics } from './publish-metrics.ts';
import { createPublisher, type Publisher } from './publisher.ts';

type Server = Awaited<ReturnType<typeof startNats>>;

const keys = [{ id: 'k1', bytes: randomBytes(32) }];
const environment = uniqueEnvironment();

let folder: string;
let server: Server;
let nats: TestNats;
let store: TestStore;
let publisher: Publisher;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'gateway-publish-'));
  server = await startServer('first');
  nats = await openTestNats(server.url);
  store = await openTestStore();
  await addEnvironment(store.db, environment);
  publisher = createPublisher({
    db: store.db,
    databaseUrl: store.url,
    store: await createNatsSnapshotStore(nats.connection, nats.prepare),
    keys,
    clock: systemClock,
    random: systemRandom,
    log: createLogger('test', process.env['TEST_LOG'] ?? 'silent'),
    metrics: createPublishMetrics(new Registry()),
  });
  await published(0);
});
afterEach(async () => {
  await publisher.stop();
  await nats.close();
  await server.stop();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function startServer(data: string, port?: number): Promise<Server> {
  const dataDir = path.join(folder, data);
  return startNats({ dataDir, log: () => undefined, ...(port === undefined ? {} : { port }) });
}

async function readSnapshot(): Promise<Snapshot> {
  const pointers = await new Kvm(nats.connection).open(NAMES.configBucket);
  const objects = await new Objm(nats.connection).open(NAMES.snapshotBucket, false);
  const text = (await pointers.get(environment))?.string() ?? '';
  const pointer = openPointer(text, environment, keys);
  return openSnapshot(pointer, (await objects.getBlob(pointer.object)) ?? new Uint8Array());
}

/** Waits until a snapshot with so many routes is out and Postgres knows of it. */
async function published(routes: number): Promise<number> {
  return eventually(
    async () => {
      const snapshot = await readSnapshot();
      expect(snapshot.routes).toHaveLength(routes);
      const configuration = await readConfiguration(store.db, environment);
      expect(configuration).toMatchObject({ configVersion: snapshot.version, pendingIds: [] });
      return snapshot.version;
    },
    { deadlineMs: 20_000 },
  );
}

describe('the publisher and a NATS server of its own', () => {
  it('publishes what was changed while the server was away', async () => {
    await server.stop();
    await addRoute(store.db, environment, 'a');
    server = await startServer('first', server.port);
    expect(await published(1)).toBe(2);
  });

  it('publishes everything anew where the server came back without its data', async () => {
    await server.stop();
    server = await startServer('second', server.port);
    expect(await published(0)).toBe(2);
  });

  it('publishes a change though the buckets were deleted under it', async () => {
    const manager = await jetstreamManager(nats.connection);
    await manager.streams.delete(`KV_${NAMES.configBucket}`);
    await manager.streams.delete(`OBJ_${NAMES.snapshotBucket}`);
    await addRoute(store.db, environment, 'a');
    expect(await published(1)).toBeGreaterThan(1);
  });
});
