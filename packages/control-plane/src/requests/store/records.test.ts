import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { RequestRecord } from '@gateway/shared/records/record';
import { requestRecord } from '@gateway/shared/test/request-record';
import { openTestStore, type TestStore } from '../../../test/store.ts';
import { RECORD_DOCUMENTS } from '../record-document.ts';
import { storableRecord, storeAs } from '../ingest/storable-record.ts';
import { REQUEST_RECORDS } from '../../partitions/partitioned-table.ts';
import { readWithinTime } from '../../store/bounded-rows.ts';
import { isStatementTimeout } from '../../store/failures.ts';
import { createPartitions } from '../../partitions/store/partitions.ts';
import { findRecord, insertRecords, listRecords, type RecordQuery } from './records.ts';

const DAY = Date.UTC(2030, 5, 15);
const everything = { environments: undefined, routes: undefined, sinceMs: 0, limit: 200 };

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  await createPartitions(store.db, REQUEST_RECORDS, [DAY]);
});
afterAll(() => store.close());

async function insert(...records: readonly RequestRecord[]): Promise<number> {
  return insertRecords(store.db, records.map(storableRecord));
}

async function ids(query: Partial<RecordQuery>): Promise<readonly string[]> {
  const { rows } = await listRecords(store.db, { ...everything, ...query });
  return rows.map((row) => row.id);
}

describe('the store of request records', () => {
  it('stores a duplicate once, within one batch and across batches', async () => {
    const record = requestRecord(DAY);
    expect(await insert(record, record)).toBe(1);
    expect(await insert(record, requestRecord(DAY))).toBe(1);
  });

  it('stores a record once that comes again in the other form', async () => {
    for (const [first, again] of [RECORD_DOCUMENTS, RECORD_DOCUMENTS.toReversed()]) {
      const record = requestRecord(DAY + 5);
      const inserted = await insertRecords(store.db, [storeAs(first)(record)]);
      const insertedAgain = await insertRecords(store.db, [storeAs(again)(record)]);
      expect([inserted, insertedAgain]).toEqual([1, 0]);
    }
  });

  it('stores records of concurrent writers once', async () => {
    const records = Array.from({ length: 60 }, (_, index) => requestRecord(DAY + index));
    const parts = [0, 10, 20, 5].map((start) => insert(...records.slice(start, start + 40)));
    const inserted = await Promise.all(parts);
    expect(inserted.reduce((sum, one) => sum + one, 0)).toBe(60);
    expect(await ids({ sinceMs: DAY, untilMs: DAY + 60 })).toEqual(
      expect.arrayContaining(records.map((record) => record.id)),
    );
  });

  it('finds a record in the partition of its time and searches no other', async () => {
    const record = requestRecord(DAY + 1234);
    await insert(record);
    const found = await findRecord(store.db, record.id, record.received_at_ms);
    expect(found).toMatchObject({ id: record.id, receivedAtMs: DAY + 1234, route: 'echo' });
    expect(await findRecord(store.db, record.id, record.received_at_ms + 1)).toBeUndefined();
    const plan = await sql<Record<string, string>>`
      EXPLAIN SELECT * FROM request_records
      WHERE received_at = to_timestamp(${record.received_at_ms}::float8 / 1000)
        AND id = ${record.id}
    `.execute(store.db);
    const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('request_records_20300615');
    expect(text).not.toContain('request_records_default');
  });

  it('filters by each field alone and by all together', async () => {
    const at = DAY - 100_000;
    const failed = requestRecord(at, { status: 502, outcome: 'upstream_error', route: 'other' });
    const dev = requestRecord(at + 1, { environment: 'development' });
    const lost = requestRecord(at + 2, { environment: null, route: null, status: null });
    await insert(failed, dev, lost);
    const window = { sinceMs: at, untilMs: at + 3 };
    expect(await ids(window)).toEqual([lost.id, dev.id, failed.id]);
    expect(await ids({ sinceMs: at + 1, untilMs: at + 2 })).toEqual([dev.id]);
    expect(await ids({ ...window, status: 502 })).toEqual([failed.id]);
    expect(await ids({ ...window, outcome: 'upstream_error' })).toEqual([failed.id]);
    expect(await ids({ ...window, route: 'echo' })).toEqual([dev.id]);
    expect(await ids({ ...window, environment: 'production' })).toEqual([failed.id]);
    expect(await ids({ ...window, environments: ['development'] })).toEqual([dev.id]);
    expect(await ids({ ...window, routes: ['other', 'echo'] })).toEqual([dev.id, failed.id]);
    expect(await ids({ ...window, routes: ['other'], environment: 'production' })).toEqual([
      failed.id,
    ]);
    expect(await ids({ ...window, environments: [] })).toEqual([]);
  });

  it('ends a page at the record that reaches its size', async () => {
    const at = DAY - 200_000;
    const records = [0, 1, 2, 3].map((ms) => requestRecord(at + ms, { path: 'p'.repeat(1000) }));
    await insert(...records);
    const window = { ...everything, sinceMs: at, untilMs: at + 4 };
    const whole = await listRecords(store.db, window);
    expect(whole).toMatchObject({ isCut: false, rows: { length: 4 } });
    expect(whole.bytes).toBeGreaterThan(4000);
    const part = await listRecords(store.db, { ...window, maxBytes: whole.bytes / 4 + 1 });
    expect(part).toEqual({ isCut: true, rows: whole.rows.slice(0, 2), bytes: whole.bytes / 2 });
    const row = await findRecord(store.db, records[3]?.id ?? '', at + 3);
    expect(part.rows[0]).toEqual(row);
  });

  it('rejects if Postgres does not answer in time', async () => {
    const within = (query: RecordQuery, timeoutMs: number) =>
      readWithinTime(store.db, timeoutMs, (transaction) => listRecords(transaction, query));
    await store.db.transaction().execute(async (other) => {
      await sql`LOCK TABLE request_records IN ACCESS EXCLUSIVE MODE`.execute(other);
      const error: unknown = await within(everything, 20).catch((thrown: unknown) => thrown);
      expect(isStatementTimeout(error)).toBe(true);
    });
    const rows = await within({ ...everything, limit: 1 }, 5000);
    expect(rows).toEqual(await listRecords(store.db, { ...everything, limit: 1 }));
  });

  it('pages through all records once and in order, across partitions', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        // A record weighs some 600 bytes.
        fc.constantFrom(1, 1000, 2000, undefined),
        async (offsets, limit, maxBytes) => {
          const environment = `e${Math.random().toString(36).slice(2)}`;
          const records = offsets.map((ms) => requestRecord(DAY + ms, { environment }));
          await insert(...records);
          const seen: string[] = [];
          for (let after: RecordQuery['after']; ;) {
            const query = { ...everything, environment, limit, after, maxBytes };
            const { rows, isCut } = await listRecords(store.db, query);
            seen.push(...rows.map((row) => row.id));
            expect(isCut).toBe(rows.length < limit && seen.length < records.length);
            const last = rows.at(-1);
            if (last === undefined) break;
            after = { id: last.id, atMs: last.receivedAtMs };
          }
          const wanted = records
            .map((record) => record.id)
            .sort()
            .reverse();
          expect(seen).toEqual(wanted);
        },
      ),
      { numRuns: 25 },
    );
  });
});
