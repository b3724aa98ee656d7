import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LogEntry } from '@gateway/shared/snapshot/log-schema';
import { sql } from 'kysely';
import { addRoute, changeRoute } from '../../test/configuration.ts';
import { openTestPublishing, type TestPublishing } from '../../test/publishing.ts';
import type { SnapshotStore } from './snapshot-store.ts';

let publishing: TestPublishing;
/** Runs once, after NATS has accepted an entry and before Postgres knows. */
let interrupt: (() => Promise<unknown>) | undefined;
beforeEach(async () => {
  publishing = await openTestPublishing();
  const wrap = (store: SnapshotStore): SnapshotStore => ({
    ...store,
    async appendEntry(...entry) {
      const appended = await store.appendEntry(...entry);
      const work = interrupt;
      interrupt = undefined;
      if (work === undefined) return appended;
      await work();
      throw new Error('interrupted');
    },
  });
  await publishing.startPublisher({ wrap });
  for (const name of ['a', 'b']) await addRoute(publishing.store.db, publishing.environment, name);
  await publishing.settled();
});
afterEach(async () => {
  interrupt = undefined;
  await publishing.close();
});

const change = (name: string, kind: 'update' | 'delete' = 'update') =>
  changeRoute(publishing.store.db, publishing.environment, name, kind);

/** Changes the route `a`, and waits until nothing is pending after the interruption and its work. */
async function interrupted(work: () => Promise<unknown>): Promise<readonly LogEntry[]> {
  const before = (await publishing.readLog()).length;
  const done = new Promise<void>((resolve) => {
    interrupt = () => work().finally(resolve);
  });
  await change('a');
  // In the middle of the work nothing may be pending either.
  await done;
  await publishing.settled();
  return (await publishing.readLog()).slice(before);
}

/** What Postgres knows of the last version: whether it is in the history, and the ids of its changes. */
async function history(version: number | undefined): Promise<unknown> {
  const { rows } = await sql`
    SELECT why, array(
      SELECT entity_id FROM config_outbox WHERE published_version = config_versions.version
    ) AS changed
    FROM config_versions WHERE version = ${version}
  `.execute(publishing.store.db);
  return rows;
}

const routeOf = (name: string) => `rte_${publishing.environment}_${name}`;
const CHANGED = { timeout_ms: 1234 };

describe('a publisher that is interrupted between NATS and Postgres', () => {
  it('does not publish the change again', async () => {
    const entries = await interrupted(() => Promise.resolve());
    expect(entries).toMatchObject([
      { kind: 'delta', routes: { put: [{ id: routeOf('a'), ...CHANGED }] } },
    ]);
    expect(await history(entries[0]?.version)).toEqual([
      { why: 'changed', changed: [routeOf('a')] },
    ]);
  });

  it('publishes what changed meanwhile as the next delta', async () => {
    const entries = await interrupted(() => change('b'));
    expect(entries).toMatchObject([
      { kind: 'delta', routes: { put: [{ id: routeOf('a') }] } },
      { kind: 'delta', routes: { put: [{ id: routeOf('b') }] }, from: entries[0]?.version },
    ]);
  });

  it('marks no later change of the same route, which another publisher may have published', async () => {
    const { environment, store } = publishing;
    const entries = await interrupted(() =>
      sql`
        INSERT INTO config_outbox (environment, action, kind, entity_id)
        VALUES (${environment}, 'route.updated', 'route', ${routeOf('a')})
      `.execute(store.db),
    );
    expect(entries).toMatchObject([{ kind: 'delta' }, { kind: 'delta' }]);
    const changes = entries.flatMap((entry) =>
      entry.kind === 'delta' ? (entry.changes ?? []) : [],
    );
    expect(new Set(changes).size).toBe(2);
  });

  it('publishes the change again if its route was changed again', async () => {
    const entries = await interrupted(() => change('a', 'delete'));
    expect(entries).toMatchObject([{ kind: 'delta' }, { kind: 'snapshot' }]);
    const { routes } = await publishing.readSnapshot();
    expect(routes.map(({ name }) => name)).toEqual(['b']);
  });

  it('publishes again if Postgres has lost the change', async () => {
    const { db } = publishing.store;
    const entries = await interrupted(async () => {
      await sql`DELETE FROM config_outbox WHERE published_version IS NULL`.execute(db);
      await sql`UPDATE routes SET timeout_ms = 5000 WHERE id = ${routeOf('a')}`.execute(db);
      await change('b');
    });
    expect(entries).toMatchObject([{ kind: 'delta' }, { kind: 'snapshot' }]);
    const { routes } = await publishing.readSnapshot();
    expect(routes).toMatchObject([{ timeout_ms: 5000 }, CHANGED]);
  });
});
