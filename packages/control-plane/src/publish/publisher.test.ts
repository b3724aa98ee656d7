import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { sealSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { createIdFactory } from '@gateway/shared/ids';
import { ownOrigin } from '../changes/store/change-origin.ts';
import { deleteEnvironment } from '../environments/store/delete-environment.ts';
import { createEnvironment } from '../environments/store/environments.ts';
import { readConfiguration } from '../configuration/store/configuration-rows.ts';
import { addEnvironment, addRoute, addToken, uniqueEnvironment } from '../../test/configuration.ts';
import { masterKey, openTestPublishing, type TestPublishing } from '../../test/publishing.ts';
import { createNatsSnapshotStore } from './nats-snapshot-store.ts';
import type { SnapshotStore } from './snapshot-store.ts';

let publishing: TestPublishing;
beforeEach(async () => void (publishing = await openTestPublishing()));
afterEach(() => publishing.close());

describe('the publisher', () => {
  it('publishes the changes in the outbox at its start, and later ones', async () => {
    await addToken(publishing.store.db, publishing.environment, 'ci');
    await publishing.startPublisher();
    await eventually(async () => {
      const snapshot = await publishing.readSnapshot();
      expect(snapshot.services.map((service) => service.name)).toEqual(['echo']);
      expect(snapshot.tokens.map((token) => token.secrets.length)).toEqual([2]);
    });
    await addRoute(publishing.store.db, publishing.environment, 'a');
    await eventually(async () => expect(await publishing.routeNames()).toEqual(['a']));
    await publishing.settled();
    const configuration = await readConfiguration(publishing.store.db, publishing.environment);
    expect(configuration?.configVersion).toBe((await publishing.readPointer()).version);
  });

  it('publishes a deleted environment without tokens, and again if it is created again', async () => {
    const { environment, store } = publishing;
    const ids = createIdFactory(() => Date.now());
    const origin = ownOrigin(ids);
    await addToken(store.db, environment, 'ci');
    await publishing.startPublisher();
    await eventually(async () => expect((await publishing.readSnapshot()).tokens).toHaveLength(1));
    await sql`DELETE FROM services WHERE environment = ${environment}`.execute(store.db);
    await sql`UPDATE tokens SET environments = '{*}'`.execute(store.db);
    await deleteEnvironment(store.db, environment, origin);
    await eventually(async () => {
      expect(await publishing.readSnapshot()).toMatchObject({
        services: [],
        routes: [],
        tokens: [],
      });
    });
    const { version } = await publishing.readPointer();
    expect((await publishing.readSnapshot()).environment_id).toBeUndefined();
    const { id } = await createEnvironment(store.db, environment, origin);
    await eventually(async () => expect((await publishing.readSnapshot()).tokens).toHaveLength(1));
    const first = await publishing.readPointer();
    expect(first.version).toBeGreaterThan(version);
    // Data planes keep the state of the former environment apart by it.
    expect((await publishing.readSnapshot()).environment_id).toBe(id);
    await publishing.settled();
    const { rows } = await sql`SELECT first_version::int FROM environments
      WHERE name = ${environment}`.execute(store.db);
    expect(rows).toEqual([{ first_version: first.version }]);
  });

  it('does not publish an unchanged configuration', async () => {
    await publishing.startPublisher();
    await publishing.settled();
    const { version } = await publishing.readPointer();
    const other = uniqueEnvironment();
    await publishing.startPublisher();
    await addEnvironment(publishing.store.db, other);
    await eventually(async () => expect(await publishing.pointers.get(other)).not.toBeNull());
    expect((await publishing.readPointer()).version).toBe(version);
  });

  it('publishes again what another version of the control plane compiled', async () => {
    const first = await publishing.startPublisher();
    await publishing.settled();
    await first.stop();
    const { environment, keys, objects, pointers } = publishing;
    const { version } = await publishing.readPointer();
    const older: unknown = { ...(await publishing.readSnapshot()), services: undefined };
    const sealed = await sealSnapshot(older as Snapshot, `${environment}.${version}.old`, keys);
    await objects.putBlob({ name: sealed.pointer.object }, sealed.bytes);
    await pointers.put(environment, JSON.stringify(sealed.pointer));
    await expect(publishing.readSnapshot()).rejects.toThrow('invalid snapshot: services');
    await publishing.startPublisher();
    await eventually(async () => {
      const snapshot = await publishing.readSnapshot();
      expect(snapshot).toMatchObject({ version: version + 1, services: [{ name: 'echo' }] });
    });
  });

  it('takes a host from the routes that have it once it is reserved', async () => {
    const { environment, store } = publishing;
    await addRoute(store.db, environment, 'a');
    const match = [{ hosts: ['gateway.test', 'api.test'], paths: [], headers: [] }];
    await sql`UPDATE routes SET match = ${JSON.stringify(match)}`.execute(store.db);
    const hosts = async () => (await publishing.readSnapshot()).routes[0]?.match[0]?.hosts;
    await publishing.startPublisher();
    await eventually(async () => expect(await hosts()).toEqual(['gateway.test', 'api.test']));
    await publishing.settled();
    await publishing.stopPublishers();
    await publishing.startPublisher({ reservedHosts: ['gateway.test'] });
    await eventually(async () => expect(await hosts()).toEqual(['api.test']));
  });

  it('publishes again, under a higher version, what was lost or forged in NATS', async () => {
    const first = await publishing.startPublisher();
    await publishing.settled();
    await first.stop();
    const losses: (() => Promise<unknown>)[] = [
      () => publishing.pointers.delete(publishing.environment),
      () => publishing.pointers.purge(publishing.environment),
      () => publishing.pointers.put(publishing.environment, '{"version": 1000000}'),
      async () => publishing.objects.delete((await publishing.readPointer()).object),
    ];
    let { version } = await publishing.readPointer();
    for (const lose of losses) {
      await lose();
      const publisher = await publishing.startPublisher();
      await eventually(async () => {
        expect((await publishing.readPointer()).version).toBeGreaterThan(version);
        expect((await publishing.readSnapshot()).services).toHaveLength(1);
      });
      await publisher.stop();
      ({ version } = await publishing.readPointer());
      expect(version).toBeLessThan(1000);
    }
  });

  it('signs again with a new first master key', async () => {
    const first = await publishing.startPublisher();
    await publishing.settled();
    await first.stop();
    const newer = [masterKey('k2'), ...publishing.keys];
    await publishing.startPublisher({ keys: newer });
    await eventually(async () => expect((await publishing.readPointer(newer)).key_id).toBe('k2'));
  });

  it('publishes again if it crashed between the pointer and Postgres', async () => {
    const first = await publishing.startPublisher();
    await publishing.settled();
    await first.stop();
    await sql`UPDATE environments SET config_version = 0`.execute(publishing.store.db);
    await sql`UPDATE config_outbox SET published_version = NULL`.execute(publishing.store.db);
    const before = await publishing.readPointer();
    await publishing.startPublisher();
    await publishing.settled();
    expect((await publishing.readPointer()).version).toBe(before.version + 1);
  });

  it('keeps changes during an outage of NATS, and publishes them afterwards', async () => {
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
    await publishing.startPublisher({ wrap });
    await addRoute(publishing.store.db, publishing.environment, 'a');
    await eventually(() => expect(refused).toBeGreaterThan(2));
    expect(await publishing.pendingChanges()).toBe(2);
    isAway = false;
    await eventually(async () => expect(await publishing.routeNames()).toEqual(['a']));
    await publishing.settled();
  });

  it('does not replace what another publisher published while it stalled and lost its lock', async () => {
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
    await publishing.startPublisher({ wrap });
    await eventually(() => expect(isStalling).toBe(true));
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'gateway-publisher'
    `.execute(publishing.store.db);
    await addRoute(publishing.store.db, publishing.environment, 'newer');
    await publishing.startPublisher();
    await eventually(async () => expect(await publishing.routeNames()).toEqual(['newer']));
    const { version } = await publishing.readPointer();
    release();
    await eventually(() => expect(stalledPut).toBe(false));
    expect(await publishing.routeNames()).toEqual(['newer']);
    await addRoute(publishing.store.db, publishing.environment, 'newest');
    await eventually(async () =>
      expect(await publishing.routeNames()).toEqual(['newer', 'newest']),
    );
    expect((await publishing.readPointer()).version).toBeGreaterThan(version);
  });

  it('is notified of changes again after its connection was lost', async () => {
    await publishing.startPublisher();
    await publishing.settled();
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'gateway-publisher'
    `.execute(publishing.store.db);
    await addRoute(publishing.store.db, publishing.environment, 'a');
    await eventually(async () => expect(await publishing.routeNames()).toEqual(['a']));
  });

  it('keeps only the newest versions of an environment, also if a removal failed', async () => {
    let failures: number | undefined = 0;
    const wrap = (inner: SnapshotStore): SnapshotStore => ({
      ...inner,
      removeObject(name) {
        if (failures === undefined) return inner.removeObject(name);
        failures += 1;
        return Promise.reject(new Error('timeout'));
      },
    });
    await publishing.startPublisher({ wrap });
    const { connection, prepare } = publishing.nats;
    const snapshots = await createNatsSnapshotStore(connection, prepare);
    for (let change = 0; change < 25; change += 1) {
      const name = `r${change}`;
      await addRoute(publishing.store.db, publishing.environment, name);
      await eventually(async () => expect(await publishing.routeNames()).toContain(name), {
        intervalMs: 2,
      });
    }
    const { version } = await publishing.readPointer();
    expect(version).toBeGreaterThan(20);
    await eventually(() => expect(failures).toBeGreaterThan(0));
    failures = undefined;
    await eventually(async () => {
      // The client's own list waits 30 s for objects that are removed while it reads.
      const names = await snapshots.listObjects();
      const ours = names.filter((name) => name.startsWith(`${publishing.environment}.`));
      expect(ours).toHaveLength(10);
    });
    expect((await publishing.readSnapshot()).routes).toHaveLength(25);
  });
});
