import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import { AUDIT_EVENTS, REQUEST_RECORDS as TABLE } from '../domain/partitioned-table.ts';
import type { Database } from '../store/database.ts';
import {
  abandonMove,
  beginMove,
  copyLateRows,
  endMove,
  findMove,
} from '../store/partitions/late-rows.ts';
import { listPartitions, listStrayPeriods, makePartition } from '../store/partitions/partitions.ts';
import { findRecord, insertRecords } from '../store/records/records.ts';
import { requestRecord } from '@gateway/shared/test/request-record';
import { openTestStore, type TestStore } from '../../test/store.ts';
import { moveLateRows } from './late-rows-move.ts';
import { storableRecord } from '../ingest/storable-record.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAY = Date.UTC(2030, 5, 15);
const LOCK_TIMEOUT_MS = 2000;
/** A try to change tables waits for 0.4 s at the longest; the rest is for a busy machine. */
const LONGEST_WAIT_MS = 3000;
const never = new AbortController().signal;

let store: TestStore;
beforeEach(async () => void (store = await openTestStore()));
afterEach(() => store.close());

const record = (atMs: number) => storableRecord(requestRecord(atMs));
const move = (...starts: readonly number[]) =>
  moveLateRows({ db: store.db, clock: systemClock }, TABLE, starts, never);

/** How many rows each partition has. */
async function counts(): Promise<Readonly<Record<string, number>>> {
  const { rows } = await sql<{ name: string; count: number }>`
    SELECT tableoid::regclass::text AS name, count(*)::int FROM request_records GROUP BY 1
  `.execute(store.db);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

/** So many rows from the start of the day on, some to a millisecond: more than one batch takes. */
async function insertMany(count: number): Promise<void> {
  await sql`
    INSERT INTO request_records (received_at, id, outcome, document)
    SELECT ${new Date(DAY)}::timestamptz + i / 3 * interval '1 millisecond',
      'req_' || lpad(i::text, 26, '0'), 'success', '{}'
    FROM generate_series(0, ${count - 1}) AS i
  `.execute(store.db);
}

async function leftOvers(): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relname ~ 'moving'
    UNION ALL SELECT proname FROM pg_proc WHERE proname ~ 'moving'
    UNION ALL SELECT tgname FROM pg_trigger WHERE tgname ~ 'moving'
    UNION ALL SELECT conname FROM pg_constraint WHERE conname ~ 'moving_period'
    UNION ALL SELECT relname FROM pg_class WHERE array_to_string(reloptions, ',') ~ 'autovacuum'
  `.execute(store.db);
  return rows.map(({ name }) => name);
}

describe('rows that came before their partition', () => {
  it('are moved into it, each once, and the others stay, as often as it happens', async () => {
    for (const day of [DAY, DAY + 2 * DAY_MS]) {
      const times = [day, day + DAY_MS - 1, day + DAY_MS, day - 1];
      const records = times.map(record);
      await insertRecords(store.db, records);
      expect(await move(day, day + DAY_MS)).toBe(true);
      for (const { id, receivedAtMs } of records) {
        expect(await findRecord(store.db, id, receivedAtMs)).toMatchObject({ id, receivedAtMs });
      }
      expect(await insertRecords(store.db, records)).toBe(0);
    }
    expect(await counts()).toEqual({
      request_records_default: 1,
      request_records_20300615: 2,
      request_records_20300616: 2,
      request_records_20300617: 2,
      request_records_20300618: 1,
    });
    expect(await leftOvers()).toEqual([]);
    expect(await listStrayPeriods(store.db, TABLE)).toEqual([DAY - DAY_MS]);
  });

  it('are moved in batches, with what is inserted meanwhile, wherever it belongs', async () => {
    await insertMany(12_000);
    const stopping = new AbortController();
    let inserted = 0;
    let longestMs = 0;
    const writing = (async () => {
      for (; !stopping.signal.aborted; inserted += 1) {
        const startedMs = performance.now();
        await insertRecords(store.db, [record(DAY + (inserted % 2) * DAY_MS)]);
        longestMs = Math.max(longestMs, performance.now() - startedMs);
      }
    })();
    await eventually(() => expect(inserted).toBeGreaterThan(4));
    const before = inserted;
    expect(await move(DAY)).toBe(true);
    expect(inserted).toBeGreaterThan(before);
    stopping.abort();
    await writing;
    expect(longestMs).toBeLessThan(LONGEST_WAIT_MS);
    expect(await counts()).toEqual({
      request_records_20300615: 12_000 + Math.ceil(inserted / 2),
      request_records_default: Math.floor(inserted / 2),
    });
  });

  it('are seen by whoever reads while they are moved', async () => {
    await insertMany(300);
    const id = `req_${'7'.padStart(26, '0')}`;
    const stopping = new AbortController();
    const reading = (async () => {
      while (!stopping.signal.aborted) {
        expect(await findRecord(store.db, id, DAY + 2)).toMatchObject({ id });
      }
    })();
    await beginMove(store.db, TABLE, [DAY], LOCK_TIMEOUT_MS);
    const found = await findMove(store.db, TABLE);
    if (found === undefined) throw new Error('a move has begun');
    await copyLateRows(store.db, TABLE, found, undefined);
    // The exchange waits for this writer; readers who come meanwhile wait for the exchange.
    const { release, held } = await holdRow(store.db);
    const ending = endMove(store.db, TABLE, found, LOCK_TIMEOUT_MS);
    await eventually(async () => expect(await waiting()).toBeGreaterThan(1));
    release();
    await held;
    expect(await ending).toBe('done');
    stopping.abort();
    await reading;
    expect(await counts()).toEqual({ request_records_20300615: 300 });
  });

  it('are moved once by several that do it at once, and by the next where one was broken off', async () => {
    await insertMany(6000);
    await beginMove(store.db, TABLE, [DAY], LOCK_TIMEOUT_MS);
    const begun = await findMove(store.db, TABLE);
    if (begun === undefined) throw new Error('a move has begun');
    await copyLateRows(store.db, TABLE, begun, undefined);
    expect(await makePartition(store.db, TABLE, DAY + DAY_MS)).toBe('late');
    const ended = await Promise.all([move(DAY), move(DAY), move(DAY)]);
    expect(ended.filter(Boolean)).toHaveLength(1);
    expect(await counts()).toEqual({ request_records_20300615: 6000 });
    expect(await leftOvers()).toEqual([]);
  });

  it('are not lost to one who ends a move that another one began anew', async () => {
    await insertMany(10);
    await beginMove(store.db, TABLE, [DAY], LOCK_TIMEOUT_MS);
    const first = await findMove(store.db, TABLE);
    if (first === undefined) throw new Error('a move has begun');
    await abandonMove(store.db, TABLE, LOCK_TIMEOUT_MS);
    expect(await leftOvers()).toEqual([]);
    await beginMove(store.db, TABLE, [DAY], LOCK_TIMEOUT_MS);
    expect(await copyLateRows(store.db, TABLE, first, undefined)).toBe('already');
    expect(await endMove(store.db, TABLE, first, LOCK_TIMEOUT_MS)).toBe('already');
    expect(await counts()).toEqual({ request_records_default: 10 });
  });

  it('are moved from scratch where the table has changed since their move began', async () => {
    await insertMany(10);
    await beginMove(store.db, TABLE, [DAY], LOCK_TIMEOUT_MS);
    await sql`ALTER TABLE request_records ADD COLUMN later text`.execute(store.db);
    await expect(move(DAY)).rejects.toThrow('INSERT has more expressions');
    expect(await leftOvers()).toEqual([]);
    expect(await move(DAY)).toBe(true);
    expect(await counts()).toEqual({ request_records_20300615: 10 });
  });

  it('are moved from scratch where another one has moved some of them past this move', async () => {
    await insertMany(10);
    await insertRecords(store.db, [record(DAY + DAY_MS)]);
    await beginMove(store.db, TABLE, [DAY], LOCK_TIMEOUT_MS);
    const begun = await findMove(store.db, TABLE);
    if (begun === undefined) throw new Error('a move has begun');
    await copyLateRows(store.db, TABLE, begun, undefined);
    await sql`CREATE TABLE request_records_20300616 (LIKE request_records INCLUDING ALL)`.execute(
      store.db,
    );
    await sql`
      WITH moved AS (DELETE FROM request_records WHERE received_at >= '2030-06-16Z' RETURNING *)
      INSERT INTO request_records_20300616 SELECT * FROM moved
    `.execute(store.db);
    await sql`
      ALTER TABLE request_records ATTACH PARTITION request_records_20300616
      FOR VALUES FROM ('2030-06-16Z') TO ('2030-06-17Z')
    `.execute(store.db);
    await expect(move(DAY)).rejects.toThrow('partition constraint');
    expect(await leftOvers()).toEqual([]);
    expect(await move(DAY)).toBe(true);
    const moved = { request_records_20300615: 10, request_records_20300616: 1 };
    expect(await counts()).toEqual(moved);
  });

  it('are not given up where the table stays in use', async () => {
    await insertMany(10);
    await beginMove(store.db, TABLE, [DAY], LOCK_TIMEOUT_MS);
    const { release, held } = await holdRow(store.db);
    await expect(move(DAY)).rejects.toThrow('a change of partitions stayed locked');
    expect(await findMove(store.db, TABLE)).toBeDefined();
    release();
    await held;
    expect(await move(DAY)).toBe(true);
    expect(await counts()).toEqual({ request_records_20300615: 10 });
  });

  it('are moved with all indexes of the table, to be found and dropped like others', async () => {
    await insertMany(10);
    await move(DAY);
    const { rows } = await sql<{ table: string; count: number }>`
      SELECT inhrelid::regclass::text AS table, count(*)::int FROM pg_inherits
      JOIN pg_index ON indrelid = inhrelid AND EXISTS (
        SELECT FROM pg_inherits AS parent WHERE parent.inhrelid = indexrelid
      )
      WHERE inhparent = 'request_records'::regclass GROUP BY 1 ORDER BY 1
    `.execute(store.db);
    expect(rows).toEqual([
      { table: 'request_records_20300615', count: 5 },
      { table: 'request_records_default', count: 5 },
    ]);
    expect(await listPartitions(store.db, TABLE)).toEqual([DAY]);
  });

  it('are moved in the table of audit events too', async () => {
    const at = new Date(Date.UTC(2031, 2, 31, 23, 59));
    await sql`
      INSERT INTO audit_events (occurred_at, id, action, resource_type, resource_id, environments, routes)
      VALUES (${at}, 'aud_1', 'environment.created', 'environment', 'x', '{x}', '{}')
    `.execute(store.db);
    const parts = { db: store.db, clock: systemClock };
    expect(await moveLateRows(parts, AUDIT_EVENTS, [Date.UTC(2031, 2)], never)).toBe(true);
    const { rows } = await sql`SELECT id FROM audit_events_203103`.execute(store.db);
    expect(rows).toEqual([{ id: 'aud_1' }]);
  });
});

/** Holds a row of the DEFAULT partition until it is let go. */
async function holdRow(db: Database): Promise<{ release: () => void; held: Promise<unknown> }> {
  const released = Promise.withResolvers<undefined>();
  const holding = Promise.withResolvers<undefined>();
  const held = db.transaction().execute(async (transaction) => {
    await sql`SELECT 1 FROM request_records LIMIT 1 FOR UPDATE`.execute(transaction);
    holding.resolve(undefined);
    await released.promise;
  });
  await holding.promise;
  return { release: () => released.resolve(undefined), held };
}

/** How many wait for a lock of a table of this database. */
async function waiting(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int FROM pg_locks
    WHERE NOT granted AND locktype = 'relation'
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  `.execute(store.db);
  return rows[0]?.count ?? 0;
}
