import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createIdFactory } from '@gateway/shared/ids';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock, type ManualClock } from '@gateway/shared/test/manual-clock';
import { requestRecord } from '@gateway/shared/test/request-record';
import { sql } from 'kysely';
import { addEnvironment } from '../../test/configuration.ts';
import { runRetention } from '../../test/run-retention.ts';
import { openTestStore, type TestStore } from '../../test/store.ts';
import { ownOrigin } from '../changes/store/change-origin.ts';
import { storableRecord } from '../requests/ingest/storable-record.ts';
import { createEnvironment } from '../environments/store/environments.ts';
import { deleteEnvironment } from '../environments/store/delete-environment.ts';
import { readConfiguration } from '../configuration/store/configuration-rows.ts';
import { markPublished } from '../publish/store/publications.ts';
import { insertRecords } from '../requests/store/records.ts';
import { deleteUnusedSeries, findUnusedSeries } from '../statistics/store/unused-series.ts';
import { ensureAdminToken } from '../tokens/store/admin-token.ts';
import { createToken, revokeToken, rotateToken } from '../tokens/store/change-tokens.ts';
import { createSeriesCleanup, deleteExpiredRows } from './expired-rows.ts';
import type { RetentionOptions } from './retention.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const TODAY = Date.UTC(2030, 5, 15);
const log = createLogger('test', 'silent');
const never = new AbortController().signal;

let store: TestStore;
let clock: ManualClock;
let newId: ReturnType<typeof createIdFactory>;
let options: RetentionOptions;
beforeEach(async () => {
  store = await openTestStore();
  clock = manualClock(TODAY);
  newId = createIdFactory(() => clock.nowMs());
  options = { db: store.db, clock, log, newId, historyDays: 90 };
});
afterEach(() => store.close());

async function count(table: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM ${sql.table(table)}
  `.execute(store.db);
  return rows[0]?.n ?? NaN;
}

describe('the series of statistics', () => {
  const insert = (atMs: number, route = 'orders') =>
    insertRecords(store.db, [storableRecord(requestRecord(atMs, { route }))]);

  it('are deleted with their last statistics, and come back with the next record', async () => {
    await runRetention(options, never);
    await insert(TODAY, 'old');
    clock.advance(20 * DAY_MS);
    await insert(clock.nowMs(), 'young');
    await runRetention(options, never);
    expect(await count('statistics_series')).toBe(2);
    clock.advance(11 * DAY_MS);
    await runRetention(options, never);
    expect(await count('statistics_series')).toBe(1);
    await insert(clock.nowMs(), 'old');
    expect(await count('statistics_series')).toBe(2);
  });

  it('are all looked at, however many there are', async () => {
    await insert(TODAY);
    await sql`
      INSERT INTO statistics_series (id, outcome)
      SELECT (n - 1500) * 1e15::bigint, 'success' FROM generate_series(1, 2999) AS n WHERE n <> 1500
    `.execute(store.db);
    await createSeriesCleanup(options)(never);
    expect(await count('statistics_series')).toBe(1);
  });

  it('stay if a batch of records adds to them meanwhile', async () => {
    await insert(TODAY);
    await sql`DELETE FROM request_statistics`.execute(store.db);
    const { unused } = await findUnusedSeries(store.db, undefined);
    expect(unused).toHaveLength(1);
    const stored = Promise.withResolvers<undefined>();
    // The batch waits for its commit.
    const batch = store.db.transaction().execute(async (transaction) => {
      await sql`INSERT INTO statistics_series SELECT * FROM statistics_series ON CONFLICT DO NOTHING`.execute(
        transaction,
      );
      await sql`
        INSERT INTO request_statistics (bucket_at, resolution, series, requests)
        SELECT ${new Date(TODAY)}, 86400, id, 1 FROM statistics_series
      `.execute(transaction);
      await stored.promise;
    });
    await eventually(async () => {
      const { rows } = await sql`
        SELECT FROM pg_locks WHERE mode = 'RowExclusiveLock'
          AND relation = 'request_statistics'::regclass
      `.execute(store.db);
      expect(rows).toHaveLength(1);
    });
    expect(await deleteUnusedSeries(store.db, unused, 20)).toBe('locked');
    const deleting = deleteUnusedSeries(store.db, unused, 5000);
    stored.resolve(undefined);
    await batch;
    expect(await deleting).toBe(0);
    expect(await count('statistics_series')).toBe(1);
  });
});

describe('tokens', () => {
  const origin = () => ownOrigin(newId);
  const nothing = () => undefined;
  const make = async () => {
    const id = newId('tok');
    const reach = { environments: ['production'], routes: ['*'], scopes: ['proxy'] };
    const rest = { name: id, expires_at: null, created_by: 'tok_maker' };
    await createToken(
      store.db,
      { id, ...reach, ...rest, secret_sha256: randomBytes(32) },
      origin(),
    );
    return id;
  };
  const rotate = (id: string) => {
    const rotation = { secretSha256: randomBytes(32), graceEnd: new Date(clock.nowMs()) };
    return rotateToken(store.db, id, rotation, origin(), nothing);
  };
  const ensureAdmin = (sha256: Buffer) => {
    const admin = { id: newId('tok'), sha256, now: new Date(clock.nowMs()) };
    return ensureAdminToken(store.db, admin, origin());
  };
  /** Postgres notes when a secret was replaced, by its own clock. */
  const replaceAt = (atMs: number) =>
    sql`UPDATE replaced_secrets SET replaced_at = ${new Date(atMs)}`.execute(store.db);

  beforeEach(() => addEnvironment(store.db, 'production'));

  it('are deleted 400 days after they were revoked, with the secrets that they had', async () => {
    const live = await make();
    const revoked = await make();
    await rotate(revoked);
    await revokeToken(store.db, revoked, origin(), nothing);
    await replaceAt(clock.nowMs());
    clock.advance(400 * DAY_MS);
    await deleteExpiredRows(options, never);
    expect([await count('tokens'), await count('replaced_secrets')]).toEqual([2, 1]);
    clock.advance(1000);
    await deleteExpiredRows(options, never);
    expect([await count('tokens'), await count('replaced_secrets')]).toEqual([1, 0]);
    expect(await store.db.selectFrom('tokens').select('id').execute()).toEqual([{ id: live }]);
  });

  it('have no replaced secret of more than 400 days', async () => {
    await rotate(await make());
    await replaceAt(TODAY);
    clock.advance(400 * DAY_MS + 1);
    await deleteExpiredRows(options, never);
    expect([await count('tokens'), await count('replaced_secrets')]).toEqual([1, 0]);
  });

  it('that were revoked admin tokens stay, so that no setting brings their secrets back', async () => {
    const [first, second] = [randomBytes(32), randomBytes(32)];
    expect(await ensureAdmin(first)).toBe('created');
    expect(await ensureAdmin(second)).toBe('replaced');
    await replaceAt(TODAY);
    const [{ id } = { id: '' }] = await store.db.selectFrom('tokens').select('id').execute();
    await revokeToken(store.db, id, origin(), nothing);
    clock.advance(1000 * DAY_MS);
    await deleteExpiredRows(options, never);
    expect(await ensureAdmin(first)).toBe('outdated');
    expect(await ensureAdmin(second)).toBe('revoked');
  });
});

describe('a deleted environment', () => {
  const NAME = 'staging';
  const environments = () => store.db.selectFrom('environments').select('name').execute();
  const publish = async (version: number) => {
    const { pendingIds = [] } = (await readConfiguration(store.db, NAME)) ?? {};
    await markPublished(store.db, NAME, { version, why: 'changed' }, pendingIds);
  };

  beforeEach(async () => {
    await createEnvironment(store.db, NAME, ownOrigin(newId));
    await publish(1);
    await deleteEnvironment(store.db, NAME, ownOrigin(newId));
  });

  it('is removed after its last audit event, with its versions', async () => {
    await publish(2);
    clock.advance(432 * DAY_MS);
    await deleteExpiredRows(options, never);
    expect(await environments()).toHaveLength(1);
    clock.advance(1000);
    await deleteExpiredRows(options, never);
    expect(await environments()).toEqual([]);
    expect([await count('config_versions'), await count('config_outbox')]).toEqual([0, 0]);
    await createEnvironment(store.db, NAME, ownOrigin(newId));
    // The publisher continues the numbers that NATS has.
    await publish(3);
    const { rows } = await sql`
      SELECT recreated, first_version::int, config_version::int FROM environments
    `.execute(store.db);
    expect(rows).toEqual([{ recreated: false, first_version: 3, config_version: 3 }]);
  });

  it('stays as long as its versions', async () => {
    await publish(2);
    options = { ...options, historyDays: 1000 };
    clock.advance(999 * DAY_MS);
    await deleteExpiredRows(options, never);
    expect(await environments()).toHaveLength(1);
  });

  it('stays until its deletion is published', async () => {
    clock.advance(1000 * DAY_MS);
    await deleteExpiredRows(options, never);
    expect(await environments()).toHaveLength(1);
  });
});
