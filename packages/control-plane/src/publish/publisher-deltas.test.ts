import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { configLogSubject, configWantedSubject, NAMES } from '@gateway/shared/messaging/names';
import { openLogEntry } from '@gateway/shared/snapshot/log-codec';
import type { Delta, LogEntry } from '@gateway/shared/snapshot/log-schema';
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

/** The entries that verify. */
async function log(): Promise<LogEntry[]> {
  const { environment, keys, nats } = publishing;
  const manager = await jetstreamManager(nats.connection);
  const filter = configLogSubject(environment);
  const entries: LogEntry[] = [];
  for (let next = 1; ;) {
    const query = { seq: next, next_by_subj: filter };
    const message = await manager.streams.getMessage(NAMES.configLog, query);
    if (message === null) return entries;
    const { data } = message;
    if (data.length > 20) entries.push(openLogEntry(data, environment, keys).entry);
    next = message.seq + 1;
  }
}

async function lastDelta(): Promise<Delta> {
  const entry = (await log()).at(-1);
  if (entry?.kind !== 'delta') throw new Error('the last entry is a delta');
  return entry;
}

/** On a busy machine the first one may have taken so long that the next is not due for minutes. */
async function lastSnapshotWasCheap(): Promise<void> {
  const { environment, store } = publishing;
  // What it took is noted behind the version.
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

describe('the publisher of deltas', () => {
  it('tells of what has changed and of nothing else, and leaves the pointer where it is', async () => {
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

  it('leads from each version to the next, and takes away what is gone or not served any more', async () => {
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

  it('makes a snapshot of what deltas have made where a data plane asks for it, of the same version', async () => {
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
    expect((await log()).at(-1)).toMatchObject({ kind: 'delta', version });
    await change('delete');
    await publishing.settled();
    expect(await lastDelta()).toMatchObject({ from: version, since: { snapshot: version } });
  });

  it('makes one by itself some seconds later, for data planes that know snapshots alone', async () => {
    await lastSnapshotWasCheap();
    await change('update');
    await publishing.settled();
    const { version } = await lastDelta();
    await eventually(async () => expect((await publishing.readPointer()).version).toBe(version), {
      deadlineMs: 25_000,
      intervalMs: 100,
    });
  }, 40_000);

  it('publishes a snapshot where it is not said what was changed, or too much was', async () => {
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
    expect((await log()).at(-1)).toMatchObject({ kind: 'snapshot', version });
    await addRoute(store.db, environment, 'b');
    await publishing.settled();
    expect((await log()).at(-1)).toMatchObject({ kind: 'snapshot', version: version + 1 });
  });

  it.each<[string, (log: Awaited<ReturnType<typeof logStream>>) => Promise<unknown>]>([
    ['was emptied', (stream) => stream.purge()],
    ['ends with what nobody has signed', (stream) => stream.append('no entry')],
  ])('begins the line of versions anew with a snapshot where the log %s', async (_how, harm) => {
    const { version } = await publishing.readPointer();
    await harm(await logStream());
    await change('update');
    await eventually(async () => {
      expect((await log()).at(-1)).toMatchObject({ kind: 'snapshot' });
    });
    await publishing.settled();
    expect((await publishing.readPointer()).version).toBeGreaterThan(version);
    expect((await publishing.readSnapshot()).routes).toMatchObject([{ timeout_ms: 1234 }]);
    await change('delete');
    await publishing.settled();
    expect(await lastDelta()).toMatchObject({ routes: { put: [] } });
  });

  it('does not append behind what another one published while it stalled without its lock', async () => {
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
    const versions = (await log()).map(({ version }) => version);
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
