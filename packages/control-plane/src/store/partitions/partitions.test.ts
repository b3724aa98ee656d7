import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { REQUEST_RECORDS as TABLE } from '../../domain/partitioned-table.ts';
import { requestRecord } from '@gateway/shared/test/request-record';
import { openTestStore, type TestStore } from '../../../test/store.ts';
import { storableRecord } from '../../ingest/storable-record.ts';
import {
  deleteStrays,
  dropPartition,
  listPartitions,
  listStrayPeriods,
  makePartition,
} from './partitions.ts';
import { insertRecords, listRecords } from '../records/records.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAY = Date.UTC(2030, 5, 15);

let store: TestStore;
beforeEach(async () => void (store = await openTestStore()));
afterEach(() => store.close());

const record = (atMs: number) => storableRecord(requestRecord(atMs));

describe('the partitions of request records', () => {
  it('are not made while rows of theirs lie in the DEFAULT one, but others are', async () => {
    await insertRecords(store.db, [DAY - 1, DAY + DAY_MS].map(record));
    expect(await makePartition(store.db, TABLE, DAY)).toBe('done');
    expect(await makePartition(store.db, TABLE, DAY + DAY_MS)).toBe('late');
    expect(await listPartitions(store.db, TABLE)).toEqual([DAY]);
  });

  it('are known to be missing by the rows in the DEFAULT one, of which hardly any is read', async () => {
    await insertRecords(
      store.db,
      [DAY + DAY_MS - 1, DAY, DAY + 5 * DAY_MS, DAY - 40 * DAY_MS].map(record),
    );
    const days = [DAY - 40 * DAY_MS, DAY, DAY + 5 * DAY_MS];
    expect(await listStrayPeriods(store.db, TABLE)).toEqual(days);
    await sql`
      INSERT INTO request_records (received_at, id, outcome, document)
      SELECT ${new Date(DAY)}::timestamptz + i * interval '1 second', 'req_' || i, 'success', '{}'
      FROM generate_series(1, 20000) AS i
    `.execute(store.db);
    await store.db.transaction().execute(async (transaction) => {
      expect(await listStrayPeriods(transaction, TABLE)).toEqual(days);
      const { rows } = await sql<{ read: number }>`
        SELECT (seq_tup_read + idx_tup_fetch)::float8 AS read FROM pg_stat_xact_user_tables
        WHERE relname = 'request_records_default'
      `.execute(transaction);
      expect(rows[0]?.read).toBeLessThan(100);
    });
  });

  it('have the indexes of the table that they belong to', async () => {
    await makePartition(store.db, TABLE, DAY);
    const { rows } = await sql<{ count: number }>`
      SELECT count(*)::int AS count FROM pg_indexes WHERE tablename = 'request_records_20300615'
    `.execute(store.db);
    expect(rows[0]?.count).toBe(5);
  });

  it('are made once, however many make them', async () => {
    const results = await Promise.all([1, 2, 3].map(() => makePartition(store.db, TABLE, DAY)));
    expect(results.filter((result) => result === 'done')).toHaveLength(1);
    expect(await makePartition(store.db, TABLE, DAY)).toBe('already');
    expect(await listPartitions(store.db, TABLE)).toEqual([DAY]);
  });

  it('give way to whoever uses the table, rather than hold up those behind', async () => {
    await makePartition(store.db, TABLE, DAY);
    await store.db.transaction().execute(async (reader) => {
      await sql`SELECT count(*) FROM request_records`.execute(reader);
      expect(await dropPartition(store.db, TABLE, DAY)).toBe('locked');
      expect(await makePartition(store.db, TABLE, DAY + DAY_MS)).toBe('locked');
    });
    expect(await dropPartition(store.db, TABLE, DAY)).toBe('done');
    expect(await listPartitions(store.db, TABLE)).toEqual([]);
    expect(await dropPartition(store.db, TABLE, DAY)).toBe('already');
  });

  it('are dropped with their records, and old strays are deleted', async () => {
    await makePartition(store.db, TABLE, DAY);
    await insertRecords(store.db, [DAY - 2, DAY - 1, DAY, DAY + DAY_MS].map(record));
    await dropPartition(store.db, TABLE, DAY);
    expect(await deleteStrays(store.db, TABLE, DAY - 1)).toBe(1);
    const { rows: left } = await listRecords(store.db, {
      environments: undefined,
      routes: undefined,
      sinceMs: 0,
      limit: 10,
    });
    expect(left.map((one) => one.receivedAtMs)).toEqual([DAY + DAY_MS, DAY - 1]);
  });
});
