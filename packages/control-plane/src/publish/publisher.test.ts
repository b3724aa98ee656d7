import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { systemClock } from '@gateway/shared/clock';
import type { MasterKey } from '@gateway/shared/config/master-keys';
import { systemRandom } from '@gateway/shared/ids';
import { openPointer, openSnapshot } from '@gateway/shared/snapshot/codec';
import type { Snapshot, SnapshotPointer } from '@gateway/shared/snapshot/schema';
import { NAMES } from '@gateway/shared/messaging/names';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/testing/eventually';
import { Kvm, type KV } from '@nats-io/kv';
import { Objm, type ObjectStore } from '@nats-io/obj';
import { readConfiguration } from '../store/configuration-rows.ts';
import { addEnvironment, addRoute, addToken, uniqueEnvironment } from '../testing/configuration.ts';
import { openTestNats, type TestNats } from '../testing/nats.ts';
import { openTestStore, type TestStore } from '../testing/store.ts';
import { compileSnapshot } from './compile.ts';
import { createNatsSnapshotStore } from './nats-snapshot-store.ts';
import { createPublishMetrics } from './publish-metrics.ts';
import { createPublisher, type Publisher } from './publisher.ts';
import type { SnapshotStore } from './snapshot-store.ts';

const log = createLogger('test', process.env['TEST_LOG'] ?? 'silent');
const key = (id: string): MasterKey => ({ id, bytes: randomBytes(32) });
const keys = [key('k1')];

let nats: TestNats;
let pointers: KV;
let objects: ObjectStore;
let store: TestStore;
let environment: string;
const publishers: Publisher[] = [];

beforeAll(async () => {
  nats = await openTestNats();
  pointers = await new Kvm(nats.connection).open(NAMES.configBucket);
  objects = await new Objm(nats.connection).open(NAMES.snapshotBucket);
});
afterAll(() => nats.close());
beforeEach(async () => {
  store = await openTestStore();
  environment = uniqueEnvironment();
});
afterEach(async () => {
  await Promise.all(publishers.splice(0).map((publisher) => publisher.stop()));
  await store.close();
});

async function startPublisher(
  options: { keys?: readonly MasterKey[]; wrap?: (store: SnapshotStore) => SnapshotStore } = {},
): Promise<Publisher> {
  const snapshots = await createNatsSnapshotStore(nats.connection, nats.prepare);
  const publisher = createPublisher({
    db: store.db,
    databaseUrl: store.url,
    store: options.wrap?.(snapshots) ?? snapshots,
    keys: options.keys ?? keys,
    clock: systemClock,
    random: systemRandom,
    log,
    metrics: createPublishMetrics(new Registry()),
  });
  publishers.push(publisher);
  return publisher;
}

async function readPointer(known = keys): Promise<SnapshotPointer> {
  const entry = await pointers.get(environment);
  return openPointer(entry?.string() ?? '', environment, known);
}

async function readSnapshot(): Promise<Snapshot> {
  const pointer = await readPointer();
  return openSnapshot(pointer, (await objects.getBlob(pointer.object)) ?? new Uint8Array());
}

async function routeNames(): Promise<readonly string[]> {
  return (await readSnapshot()).routes.map((route) => route.name);
}

async function pendingChanges(): Promise<number> {
  return (await readConfiguration(store.db, environment))?.pendingIds.length ?? -1;
}

describe('the publisher', () => {
  it('publishes what waited in the outbox before it started, and what comes after', async () => {
    await addEnvironment(store.db, environment);
    await addToken(store.db, environment, 'ci');
    await startPublisher();
    await eventually(async () => {
      const snapshot = await readSnapshot();
      expect(snapshot.services.map((service) => service.name)).toEqual(['echo']);
      expect(snapshot.tokens.map((token) => token.secrets.length)).toEqual([2]);
    });
    await addRoute(store.db, environment, 'a');
    await eventually(async () => expect(await routeNames()).toEqual(['a']));
    await eventually(async () => expect(await pendingChanges()).toBe(0));
    const configuration = await readConfiguration(store.db, environment);
    expect(configuration?.configVersion).toBe((await readPointer()).version);
  });

  it('leaves a configuration that did not change alone', async () => {
    await addEnvironment(store.db, environment);
    await startPublisher();
    await eventually(async () => expect(await pendingChanges()).toBe(0));
    const { version } = await readPointer();
    const other = uniqueEnvironment();
    await startPublisher();
    await addEnvironment(store.db, other);
    await eventually(async () => expect(await pointers.get(other)).not.toBeNull());
    expect((await readPointer()).version).toBe(version);
  });

  it('publishes anew, under a higher version, what was lost or forged in NATS', async () => {
    await addEnvironment(store.db, environment);
    const first = await startPublisher();
    await eventually(async () => expect(await pendingChanges()).toBe(0));
    await first.stop();
    const losses: (() => Promise<unknown>)[] = [
      () => pointers.delete(environment),
      () => pointers.purge(environment),
      () => pointers.put(environment, '{"version": 1000000}'),
      async () => objects.delete((await readPointer()).object),
    ];
    let { version } = await readPointer();
    for (const lose of losses) {
      await lose();
      const publisher = await startPublisher();
      await eventually(async () => {
        expect((await readPointer()).version).toBeGreaterThan(version);
        expect((await readSnapshot()).services).toHaveLength(1);
      });
      await publisher.stop();
      ({ version } = await readPointer());
      expect(version).toBeLessThan(1000);
    }
  });

  it('signs anew with a master key that was put in front', async () => {
    await addEnvironment(store.db, environment);
    const first = await startPublisher();
    await eventually(async () => expect(await pendingChanges()).toBe(0));
    await first.stop();
    const newer = [key('k2'), ...keys];
    await startPublisher({ keys: newer });
    await eventually(async () => expect((await readPointer(newer)).key_id).toBe('k2'));
  });

  it('publishes again where it died after the pointer and before Postgres knew', async () => {
    await addEnvironment(store.db, environment);
    const first = await startPublisher();
    await eventually(async () => expect(await pendingChanges()).toBe(0));
    await first.stop();
    await sql`UPDATE environments SET config_version = 0`.execute(store.db);
    await sql`UPDATE config_outbox SET published_version = NULL`.execute(store.db);
    const before = await readPointer();
    await startPublisher();
    await eventually(async () => expect(await pendingChanges()).toBe(0));
    expect((await readPointer()).version).toBe(before.version + 1);
  });

  it('keeps changes through a time without NATS, and publishes them after it', async () => {
    let isAway = true;
    let refused = 0;
    const wrap = (inner: SnapshotStore): SnapshotStore => ({
      ...inner,
      putObject: (name, bytes) => {
        if (!isAway) return inner.putObject(name, bytes);
        refused += 1;
        return Promise.reject(new Error('timeout'));
      },
    });
    await addEnvironment(store.db, environment);
    await startPublisher({ wrap });
    await addRoute(store.db, environment, 'a');
    await eventually(() => expect(refused).toBeGreaterThan(2));
    expect(await pendingChanges()).toBe(2);
    isAway = false;
    await eventually(async () => expect(await routeNames()).toEqual(['a']));
    await eventually(async () => expect(await pendingChanges()).toBe(0));
  });

  it('does not replace what another one published while it stalled without its lock', async () => {
    await addEnvironment(store.db, environment);
    let release: () => void = () => undefined;
    const stalled = new Promise<void>((resolve) => (release = resolve));
    let isStalling = false;
    let stalledPut: boolean | undefined;
    const wrap = (inner: SnapshotStore): SnapshotStore => ({
      ...inner,
      async putPointer(...args) {
        if (!isStalling) {
          isStalling = true;
          await stalled;
          stalledPut = await inner.putPointer(...args);
          return stalledPut;
        }
        return inner.putPointer(...args);
      },
    });
    await startPublisher({ wrap });
    await eventually(() => expect(isStalling).toBe(true));
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'gateway-publisher'
    `.execute(store.db);
    await addRoute(store.db, environment, 'newer');
    await startPublisher();
    await eventually(async () => expect(await routeNames()).toEqual(['newer']));
    const { version } = await readPointer();
    release();
    await eventually(() => expect(stalledPut).toBe(false));
    expect(await routeNames()).toEqual(['newer']);
    await addRoute(store.db, environment, 'newest');
    await eventually(async () => expect(await routeNames()).toEqual(['newer', 'newest']));
    expect((await readPointer()).version).toBeGreaterThan(version);
  });

  it('hears of changes again after its connection was lost', async () => {
    await addEnvironment(store.db, environment);
    await startPublisher();
    await eventually(async () => expect(await pendingChanges()).toBe(0));
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'gateway-publisher'
    `.execute(store.db);
    await addRoute(store.db, environment, 'a');
    await eventually(async () => expect(await routeNames()).toEqual(['a']));
  });

  it('keeps only the newest versions of an environment', async () => {
    await addEnvironment(store.db, environment);
    await startPublisher();
    for (let change = 0; change < 25; change += 1) {
      const name = `r${change}`;
      await addRoute(store.db, environment, name);
      await eventually(async () => expect(await routeNames()).toContain(name), { intervalMs: 2 });
    }
    const { version } = await readPointer();
    expect(version).toBeGreaterThan(20);
    await eventually(async () => {
      const names = (await objects.list()).map((object) => object.name);
      const ours = names.filter((name) => name.startsWith(`${environment}.`));
      expect(ours).toHaveLength(10);
    });
    expect((await readSnapshot()).routes).toHaveLength(25);
  });
});

describe('several publishers at once', () => {
  it('lose no change, and versions only ever rise', async () => {
    await addEnvironment(store.db, environment);
    const versions: number[] = [];
    const watch = await pointers.watch({ key: environment });
    const watching = (async () => {
      for await (const entry of watch) {
        versions.push(openPointer(entry.string(), environment, keys).version);
      }
    })();
    await Promise.all([startPublisher(), startPublisher(), startPublisher()]);
    const changes = Array.from({ length: 100 }, (_, index) => index);
    await Promise.all(
      changes.map((index) =>
        index % 2 === 0
          ? addRoute(store.db, environment, `r${index}`)
          : addToken(store.db, environment, `t${index}`),
      ),
    );
    await eventually(async () => expect(await pendingChanges()).toBe(0));
    const rows = (await readConfiguration(store.db, environment))?.rows;
    if (rows === undefined) throw new Error('the environment is there');
    const published = await readSnapshot();
    const { version } = published;
    expect(published).toEqual(compileSnapshot(rows, { version, nowMs: Date.now() }));
    expect(published.routes).toHaveLength(50);
    expect(published.tokens).toHaveLength(50);
    await eventually(() => expect(versions.at(-1)).toBe(version));
    watch.stop();
    await watching;
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
  });
});

describe('the way from a commit to the pointer', () => {
  it('takes a median of well under 100 ms over 50 changes', async () => {
    await addEnvironment(store.db, environment);
    await startPublisher();
    await eventually(async () => expect(await pendingChanges()).toBe(0));
    const seen = new Map<number, number>();
    const watch = await pointers.watch({ key: environment, include: 'updates' });
    const watching = (async () => {
      for await (const entry of watch) seen.set(entry.revision, performance.now());
    })();
    const tookMs: number[] = [];
    for (let change = 0; change < 50; change += 1) {
      const count = seen.size;
      await addRoute(store.db, environment, `r${change}`);
      const committedMs = performance.now();
      await eventually(() => expect(seen.size).toBeGreaterThan(count), { intervalMs: 1 });
      tookMs.push(Math.max(0, ([...seen.values()].at(-1) ?? Infinity) - committedMs));
    }
    watch.stop();
    await watching;
    tookMs.sort((a, b) => a - b);
    const at = (part: number) => tookMs[Math.floor(tookMs.length * part)] ?? Infinity;
    if (process.env['TEST_FIGURES'] === '1') {
      process.stdout.write(`commit to pointer: p50 ${at(0.5)} p90 ${at(0.9)} max ${at(0.99)} ms\n`);
    }
    expect(at(0.5)).toBeLessThan(100);
  });
});
