import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { systemClock } from '@gateway/shared/clock';
import type { MasterKey } from '@gateway/shared/config/master-keys';
import { systemRandom } from '@gateway/shared/ids';
import { configLogSubject, NAMES } from '@gateway/shared/messaging/names';
import { openLogEntry, type VerifiedEntry } from '@gateway/shared/snapshot/signed-log-entry';
import { openPointer, openSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import type { Snapshot, SnapshotPointer } from '@gateway/shared/snapshot/schema';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { Objm, type ObjectStore } from '@nats-io/obj';
import { createNatsSnapshotStore } from '../src/publish/nats-snapshot-store.ts';
import { createPublishMetrics } from '../src/publish/publish-metrics.ts';
import { createPublisher, type Publisher } from '../src/publish/publisher.ts';
import type { SnapshotStore } from '../src/publish/snapshot-store.ts';
import { readConfiguration } from '../src/configuration/store/configuration-rows.ts';
import { createPublisherSession } from '../src/publish/store/publisher-session.ts';
import { addEnvironment, uniqueEnvironment } from './configuration.ts';
import { openTestNats, type TestNats } from './nats.ts';
import { openTestStore, type TestStore } from './store.ts';

export interface PublisherChoices {
  /** Default: none. */
  readonly reservedHosts?: readonly string[];
  readonly keys?: readonly MasterKey[];
  /** Wraps the snapshot store of the publisher. */
  readonly wrap?: (store: SnapshotStore) => SnapshotStore;
}

/** Entries that tests write without a signature are no longer than this. */
const UNSIGNED_BYTES = 20;

export interface TestPublishing {
  readonly environment: string;
  readonly keys: readonly MasterKey[];
  readonly store: TestStore;
  readonly nats: TestNats;
  readonly pointers: KV;
  readonly objects: ObjectStore;
  startPublisher(choices?: PublisherChoices): Promise<Publisher>;
  stopPublishers(): Promise<void>;
  /** The verified pointer of the environment. @throws if there is none. */
  readPointer(keys?: readonly MasterKey[]): Promise<SnapshotPointer>;
  readSnapshot(): Promise<Snapshot>;
  /** The entries of the log of the environment that are signed, the oldest first. */
  readLog(): Promise<VerifiedEntry['entry'][]>;
  routeNames(): Promise<readonly string[]>;
  pendingChanges(): Promise<number>;
  /** Waits until no change of the environment is pending. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** A random master key. */
export function masterKey(id: string): MasterKey {
  return { id, bytes: randomBytes(32) };
}

/** Opens a database with one unpublished environment, for publishers. */
export async function openTestPublishing(natsUrl?: string): Promise<TestPublishing> {
  const nats = await openTestNats(natsUrl);
  const store = await openTestStore();
  const environment = uniqueEnvironment();
  await addEnvironment(store.db, environment);
  const keys = [masterKey('k1')];
  // A read while disconnected blocks until its timeout.
  const client = jetstream(nats.connection, { timeout: 500 });
  const pointers = await new Kvm(client).open(NAMES.configBucket);
  const objects = await new Objm(client).open(NAMES.snapshotBucket, false);
  const publishers: Publisher[] = [];

  const publishing: TestPublishing = {
    environment,
    keys,
    store,
    nats,
    pointers,
    objects,
    async startPublisher(choices = {}) {
      const snapshots = await createNatsSnapshotStore(nats.connection, nats.prepare);
      const publisher = createPublisher({
        db: store.db,
        openSession: (news) => createPublisherSession(store.url, news),
        store: choices.wrap?.(snapshots) ?? snapshots,
        keys: choices.keys ?? keys,
        reservedHosts: choices.reservedHosts ?? [],
        servedVersion: () => 0,
        clock: systemClock,
        random: systemRandom,
        log: createLogger('test', process.env['TEST_LOG'] ?? 'silent'),
        metrics: createPublishMetrics(new Registry()),
      });
      publishers.push(publisher);
      return publisher;
    },
    async stopPublishers() {
      await Promise.all(publishers.splice(0).map((publisher) => publisher.stop()));
    },
    async readPointer(known = keys) {
      const entry = await pointers.get(environment);
      return openPointer(entry?.string() ?? '', environment, known);
    },
    async readSnapshot() {
      const pointer = await publishing.readPointer();
      return openSnapshot(pointer, (await objects.getBlob(pointer.object)) ?? new Uint8Array());
    },
    async readLog() {
      const manager = await jetstreamManager(nats.connection);
      const filter = configLogSubject(environment);
      const entries: VerifiedEntry['entry'][] = [];
      for (let next = 1; ;) {
        const query = { seq: next, next_by_subj: filter };
        const message = await manager.streams.getMessage(NAMES.configLog, query);
        if (message === null) return entries;
        const { data } = message;
        if (data.length > UNSIGNED_BYTES) entries.push(openLogEntry(data, environment, keys).entry);
        next = message.seq + 1;
      }
    },
    routeNames: async () => (await publishing.readSnapshot()).routes.map((route) => route.name),
    pendingChanges: async () =>
      (await readConfiguration(store.db, environment))?.pendingIds.length ?? -1,
    async settled() {
      await eventually(async () => {
        const pending = await publishing.pendingChanges();
        if (pending > 0) throw new Error(`${pending} changes are pending`);
      });
    },
    async close() {
      await publishing.stopPublishers();
      await nats.close();
      await store.close();
    },
  };
  return publishing;
}
