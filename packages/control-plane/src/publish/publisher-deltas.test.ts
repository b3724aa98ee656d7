import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { configLogSubject, configWantedSubject, NAMES } from '@gateway/shared/messaging/names';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import { eventually } from '@gateway/shared/test/eventually';
import { jetstreamManager } from '@nats-io/jetstream';
import { addRoute, changeRoute } from '../../test/configuration.ts';
import { openTestPublishing, type TestPublishing } from '../../test/publishing.ts';
import type { SnapshotStore } from './snapshot-store.ts';

let publishing: TestPublishing;
beforeEach(async () => {
  publishing = await openTestPublishing();
  await publishing.startPublisher();
  await addRoute(publishing.store.db, publishing.environment, 'a');
  await publishing.settled();
});
afterEach(() => publishing.close());

async function lastDelta(): Promise<Delta> {
  const entry = (await publishing.readLog()).at(-1);
  if (entry?.kind !== 'delta') throw new Error('the last entry is not a delta');
  return entry;
}

/** On a busy machine the first snapshot may be so slow that the next one is not due for minutes. */
async function makeLastSnapshotCheap(): Promise<void> {
  const { environment, store } = publishing;
  // Its cost is stored after its version.
  await eventually(async () => {
    const { rows } = await sql`
      UPDATE environments SET snapshot_cost_ms = 1
      WHERE name = ${environment} AND snapshot_version = config_version RETURNING name
    `.execute(store.db);
    expect(rows.length).toBe(1);
  });
}

const change = (kind: 'update' | 'delete', name = 'a') =>
  changeRoute(publishing.store.db, publishing.environment, name, kind);

describe('deltas', () => {
  it('contain only what changed, and do not move the pointer', async () => {
    const pointer = await publishing.readPointer();
    await change('update');
    await publishing.settled();
    const delta = await lastDelta();
    const nothing = { put: [], remove: [] };
    expect(delta).toMatchObject({
      from: pointer.version,
      version: pointer.version + 1,
      format: 1,
      since: { snapshot: pointer.version, deltas: 1 },
      routes: { put: [{ name: 'a', timeout_ms: 1234 }], remove: [] },
      services: nothing,
      tokens: nothing,
    });
    expect((await publishing.readPointer()).version).toBe(pointer.version);
    const [state] = await publishing.store.db
      .selectFrom('environments')
      .select('config_version')
      .execute();
    expect(state?.config_version).toBe(delta.version);
  });

  it('continue from the version before, and remove what was deleted', async () => {
    await change('update');
    await publishing.settled();
    const first = await lastDelta();
    await change('delete');
    await publishing.settled();
    const second = await lastDelta();
    expect(second).toMatchObject({
      from: first.version,
      version: first.version + 1,
      routes: { put: [], remove: [`rte_${publishing.environment}_a`] },
      since: { snapshot: first.from, deltas: 2 },
    });
    expect(second.since.bytes).toBeGreaterThan(first.since.bytes);
  });

  it('are repeated by a snapshot of the same version when a data plane requests one', async () => {
    await change('update');
    await publishing.settled();
    const { version } = await lastDelta();
    const { environment, nats } = publishing;
    await eventually(
      async () => {
        nats.connection.publish(configWantedSubject(environment));
        expect((await publishing.readPointer()).version).toBe(version);
      },
      { intervalMs: 500, deadlineMs: 20_000 },
    );
    expect((await publishing.readSnapshot()).routes).toMatchObject([{ timeout_ms: 1234 }]);
    expect((await publishing.readLog()).at(-1)).toMatchObject({ kind: 'delta', version });
    await change('delete');
    await publishing.settled();
    expect(await lastDelta()).toMatchObject({ from: version, since: { snapshot: version } });
  });

  it('are repeated by a snapshot some seconds later', async () => {
    await makeLastSnapshotCheap();
    await change('update');
    await publishing.settled();
    const { version } = await lastDelta();
    await eventually(async () => expect((await publishing.readPointer()).version).toBe(version), {
      deadlineMs: 25_000,
      intervalMs: 100,
    });
  }, 40_000);

  it('are replaced by a snapshot if too much changed', async () => {
    const { environment, store } = publishing;
    await store.db.transaction().execute(async (transaction) => {
      for (let index = 0; index < 501; index += 1) {
        await sql`
          INSERT INTO config_outbox (environment, action, kind, entity_id)
          VALUES (${environment}, 'test', 'route', ${`rte_${index}`})
        `.execute(transaction);
      }
    });
    await publishing.settled();
    const { version } = await publishing.readPointer();
    expect((await publishing.readLog()).at(-1)).toMatchObject({ kind: 'snapshot', version });
    await addRoute(store.db, environment, 'b');
    await publishing.settled();
    expect((await publishing.readLog()).at(-1)).toMatchObject({
      kind: 'snapshot',
      version: version + 1,
    });
  });

  it.each<[string, (stream: Awaited<ReturnType<typeof logStream>>) => Promise<unknown>]>([
    ['was emptied', (stream) => stream.purge()],
    ['ends with an unsigned entry', (stream) => stream.append('no entry')],
  ])('start again after a snapshot if the log %s', async (_how, damage) => {
    const { version } = await publishing.readPointer();
    await damage(await logStream());
    await change('update');
    await eventually(async () => {
      expect((await publishing.readLog()).at(-1)).toMatchObject({ kind: 'snapshot' });
    });
    await publishing.settled();
    expect((await publishing.readPointer()).version).toBeGreaterThan(version);
    expect((await publishing.readSnapshot()).routes).toMatchObject([{ timeout_ms: 1234 }]);
    await change('delete');
    await publishing.settled();
    expect(await lastDelta()).toMatchObject({ routes: { put: [] } });
  });

  it('are refused if another publisher appended while this one stalled and lost its lock', async () => {
    let release: () => void = () => undefined;
    const stalled = new Promise<void>((resolve) => (release = resolve));
    let appended: boolean | undefined;
    let isStalling = false;
    const wrap = (inner: SnapshotStore): SnapshotStore => ({
      ...inner,
      async appendEntry(...entry) {
        if (isStalling) return inner.appendEntry(...entry);
        isStalling = true;
        await stalled;
        appended = await inner.appendEntry(...entry);
        return appended;
      },
    });
    await publishing.stopPublishers();
    await publishing.startPublisher({ wrap });
    await change('update');
    await eventually(() => expect(isStalling).toBe(true));
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'gateway-publisher'
    `.execute(publishing.store.db);
    await publishing.startPublisher();
    await publishing.settled();
    release();
    await eventually(() => expect(appended).toBe(false));
    await change('delete');
    await publishing.settled();
    const versions = (await publishing.readLog()).map(({ version }) => version);
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
  });
});

async function logStream() {
  const { connection } = publishing.nats;
  const manager = await jetstreamManager(connection);
  const subject = configLogSubject(publishing.environment);
  return {
    purge: () => manager.streams.purge(NAMES.configLog, { filter: subject }),
    append: (text: string) => connection.request(subject, text),
  };
}
