import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { REQUEST_RECORDS as TABLE } from '../domain/partitioned-table.ts';
import { requestRecord } from '../testing/records.ts';
import { openTestStore, type TestStore } from '../testing/store.ts';
import { storableRecord } from '../ingest/storable-record.ts';
import { deleteStrays, dropPartition, listPartitions, makePartition } from './partitions.ts';
import { findRecord, insertRecords, listRecords } from './records.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAY = Date.UTC(2030, 5, 15);

let store: TestStore;
beforeEach(async () => void (store = await openTestStore()));
afterEach(() => store.close());

const record = (atMs: number) => storableRecord(requestRecord(atMs));

async function countIn(table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM ${sql.table(table)}
  `.execute(store.db);
  return rows[0]?.count ?? 0;
}

describe('the partitions of request records', () => {
  it('take what comes before a partition is made, and then move it there whole', async () => {
    const times = [DAY - 1, DAY, DAY + DAY_MS - 1, DAY + DAY_MS];
    const records = times.map(record);
    await insertRecords(store.db, records);
    expect(await countIn('request_records_default')).toBe(4);
    expect(await makePartition(store.db, TABLE, DAY)).toBe('done');
    expect(await countIn('request_records_20300615')).toBe(2);
    expect(await countIn('request_records_default')).toBe(2);
    for (const { id, receivedAtMs } of records) {
      expect(await findRecord(store.db, id, receivedAtMs)).toMatchObject({ id, receivedAtMs });
    }
    expect(await insertRecords(store.db, records)).toBe(0);
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

  it('lose nothing that is inserted while they are made', async () => {
    const records = Array.from({ length: 200 }, (_, index) => record(DAY + index));
    let inserted = 0;
    const writing = (async () => {
      for (const one of records) inserted += await insertRecords(store.db, [one]);
    })();
    while (inserted < 50) await new Promise(setImmediate);
    expect(await makePartition(store.db, TABLE, DAY)).toBe('done');
    await writing;
    expect(inserted).toBe(200);
    expect(await countIn('request_records_20300615')).toBe(200);
    expect(await countIn('request_records_default')).toBe(0);
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
    const left = await listRecords(store.db, {
      environments: undefined,
      routes: undefined,
      sinceMs: 0,
      limit: 10,
    });
    expect(left.map((one) => one.receivedAtMs)).toEqual([DAY + DAY_MS, DAY - 1]);
  });
});
