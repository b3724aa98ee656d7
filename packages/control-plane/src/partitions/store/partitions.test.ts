import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { REQUEST_RECORDS as TABLE } from '../partitioned-table.ts';
import { eventually } from '@gateway/shared/test/eventually';
import { requestRecord } from '@gateway/shared/test/request-record';
import { openTestStore, type TestStore } from '../../../test/store.ts';
import { storableRecord } from '../../requests/ingest/storable-record.ts';
import {
  deleteOldDefaultRows,
  dropPartition,
  listPartitions,
  listDefaultPeriods,
  createPartitions,
} from './partitions.ts';
import { findRecord, insertRecords, listRecords } from '../../requests/store/records.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAY = Date.UTC(2030, 5, 15);

let store: TestStore;
beforeEach(async () => void (store = await openTestStore()));
afterEach(() => store.close());

const record = (atMs: number) => storableRecord(requestRecord(atMs));
const make = (...starts: number[]) => createPartitions(store.db, TABLE, starts);

async function waitingForLocks(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
  `.execute(store.db);
  return rows[0]?.count ?? 0;
}

describe('partitions of request records', () => {
  it('receive exactly their rows from the DEFAULT partition', async () => {
    const records = [DAY - 1, DAY, DAY + DAY_MS - 1, DAY + DAY_MS].map(record);
    await insertRecords(store.db, records);
    expect(await make(DAY, DAY + DAY_MS)).toEqual({
      created: [DAY, DAY + DAY_MS],
      late: [
        { startMs: DAY, rows: 2 },
        { startMs: DAY + DAY_MS, rows: 1 },
      ],
    });
    expect(await listPartitions(store.db, TABLE)).toEqual([DAY, DAY + DAY_MS]);
    expect(await listDefaultPeriods(store.db, TABLE)).toEqual([DAY - DAY_MS]);
    for (const { id, receivedAtMs } of records) {
      expect(await findRecord(store.db, id, receivedAtMs)).toMatchObject({ id, receivedAtMs });
    }
    expect(await insertRecords(store.db, records)).toBe(0);
  });

  it('lose no row that is inserted during their creation', async () => {
    const stopping = new AbortController();
    let inserted = 0;
    const writing = (async () => {
      for (; !stopping.signal.aborted; inserted += 1) {
        await insertRecords(store.db, [record(DAY + (inserted % 2) * DAY_MS)]);
      }
    })();
    await eventually(() => expect(inserted).toBeGreaterThan(4));
    const before = inserted;
    await eventually(async () => expect(await make(DAY)).toMatchObject({ created: [DAY] }));
    await eventually(() => expect(inserted).toBeGreaterThan(before));
    stopping.abort();
    await writing;
    const { rows } = await sql<{ name: string; count: number }>`
      SELECT tableoid::regclass::text AS name, count(*)::int FROM request_records
      GROUP BY 1 ORDER BY 1
    `.execute(store.db);
    expect(rows).toEqual([
      { name: 'request_records_20300615', count: Math.ceil(inserted / 2) },
      { name: 'request_records_default', count: Math.floor(inserted / 2) },
    ]);
  });

  it('hide no row from readers while it is moved', async () => {
    const moved = record(DAY + 2);
    await insertRecords(store.db, [moved]);
    const stopping = new AbortController();
    let reads = 0;
    const reading = (async () => {
      for (; !stopping.signal.aborted; reads += 1) {
        const found = await findRecord(store.db, moved.id, DAY + 2);
        expect(found).toMatchObject({ id: moved.id });
      }
    })();
    let result: unknown;
    await store.db.transaction().execute(async (writer) => {
      // The change of partitions waits for this writer, and readers wait for the change.
      await sql`SELECT 1 FROM request_records FOR UPDATE`.execute(writer);
      const making = createPartitions(store.db, TABLE, [DAY], 5000);
      await eventually(async () => expect(await waitingForLocks()).toBeGreaterThan(1));
      result = making;
    });
    expect(await result).toMatchObject({ created: [DAY], late: [{ startMs: DAY, rows: 1 }] });
    stopping.abort();
    await reading;
    expect(reads).toBeGreaterThan(0);
  });

  it('are found missing by their rows in DEFAULT, with few reads', async () => {
    await insertRecords(
      store.db,
      [DAY + DAY_MS - 1, DAY, DAY + 5 * DAY_MS, DAY - 40 * DAY_MS].map(record),
    );
    const days = [DAY - 40 * DAY_MS, DAY, DAY + 5 * DAY_MS];
    expect(await listDefaultPeriods(store.db, TABLE)).toEqual(days);
    await sql`
      INSERT INTO request_records (received_at, id, outcome, document)
      SELECT ${new Date(DAY)}::timestamptz + i * interval '1 second', 'req_' || i, 'success', '{}'
      FROM generate_series(1, 20000) AS i
    `.execute(store.db);
    await store.db.transaction().execute(async (transaction) => {
      expect(await listDefaultPeriods(transaction, TABLE)).toEqual(days);
      const { rows } = await sql<{ read: number }>`
        SELECT (seq_tup_read + idx_tup_fetch)::float8 AS read FROM pg_stat_xact_user_tables
        WHERE relname = 'request_records_default'
      `.execute(transaction);
      expect(rows[0]?.read).toBeLessThan(100);
    });
  });

  it('have the indexes of their table', async () => {
    await insertRecords(store.db, [record(DAY)]);
    await make(DAY);
    const { rows } = await sql<{ count: number }>`
      SELECT count(*)::int AS count FROM pg_indexes WHERE tablename = 'request_records_20300615'
    `.execute(store.db);
    expect(rows[0]?.count).toBe(5);
  });

  it('are created once by any number of processes', async () => {
    const results = await Promise.all([1, 2, 3].map(() => make(DAY)));
    const created = results.flatMap((result) => (typeof result === 'string' ? [] : result.created));
    expect(created).toEqual([DAY]);
    expect(await make(DAY)).toEqual({ created: [], late: [] });
    expect(await listPartitions(store.db, TABLE)).toEqual([DAY]);
  });

  it('are not changed while the table is in use', async () => {
    await make(DAY);
    await store.db.transaction().execute(async (reader) => {
      await sql`SELECT count(*) FROM request_records`.execute(reader);
      expect(await dropPartition(store.db, TABLE, DAY)).toBe('locked');
      expect(await make(DAY + DAY_MS)).toBe('locked');
    });
    expect(await dropPartition(store.db, TABLE, DAY)).toBe('done');
    expect(await listPartitions(store.db, TABLE)).toEqual([]);
    expect(await dropPartition(store.db, TABLE, DAY)).toBe('already');
  });

  it('are dropped with their records; old rows in DEFAULT are deleted', async () => {
    await make(DAY);
    await insertRecords(store.db, [DAY - 2, DAY - 1, DAY, DAY + DAY_MS].map(record));
    await dropPartition(store.db, TABLE, DAY);
    expect(await deleteOldDefaultRows(store.db, TABLE, DAY - 1)).toBe(1);
    const { rows: left } = await listRecords(store.db, {
      environments: undefined,
      routes: undefined,
      sinceMs: 0,
      limit: 10,
    });
    expect(left.map((one) => one.receivedAtMs)).toEqual([DAY + DAY_MS, DAY - 1]);
  });
});
