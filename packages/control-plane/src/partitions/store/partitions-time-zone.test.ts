import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { REQUEST_RECORDS as TABLE } from '../partitioned-table.ts';
import { maintainPartitions } from '../maintain-partitions.ts';
import { storableRecord } from '../../requests/ingest/storable-record.ts';
import { requestRecord } from '@gateway/shared/test/request-record';
import { openTestStore, type TestStore } from '../../../test/store.ts';
import { openDatabase, type OpenDatabase } from '../../store/database.ts';
import { listPartitions, listDefaultPeriods } from './partitions.ts';
import { insertRecords, listRecords } from '../../requests/store/records.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** A day on which summer time ends in Auckland, where days and clocks are 12 or 13 hours ahead. */
const DAY = Date.UTC(2030, 3, 6);
const log = createLogger('test', 'silent');

let store: TestStore;
let far: OpenDatabase;
beforeEach(async () => {
  store = await openTestStore();
  const name = new URL(store.url).pathname.slice(1);
  await sql`ALTER DATABASE ${sql.id(name)} SET timezone TO 'Pacific/Auckland'`.execute(store.db);
  far = openDatabase({ url: store.url, log });
});
afterEach(async () => {
  await far.close();
  await store.close();
});

describe('partitions in a database with another time zone', () => {
  it('cover UTC days, also for late rows', async () => {
    const { rows: zone } = await sql`SHOW timezone`.execute(far.db);
    expect(zone).toEqual([{ TimeZone: 'Pacific/Auckland' }]);
    const times = [DAY - 1, DAY, DAY + 11 * HOUR_MS, DAY + 15 * HOUR_MS, DAY + DAY_MS - 1];
    await insertRecords(
      far.db,
      times.map((atMs) => storableRecord(requestRecord(atMs))),
    );
    expect(await listDefaultPeriods(far.db, TABLE)).toEqual([DAY - DAY_MS, DAY]);
    const clock = manualClock(DAY + DAY_MS - 1);
    await maintainPartitions({ db: far.db, clock, log }, new AbortController().signal);
    expect(await listPartitions(far.db, TABLE)).toEqual(
      Array.from({ length: 61 }, (_, index) => DAY + (index - 30) * DAY_MS),
    );
    const { rows } = await sql`
      SELECT tableoid::regclass::text AS name, count(*)::int FROM request_records
      GROUP BY 1 ORDER BY 1
    `.execute(far.db);
    expect(rows).toEqual([
      { name: 'request_records_20300405', count: 1 },
      { name: 'request_records_20300406', count: 4 },
    ]);
    const query = { environments: undefined, routes: undefined, sinceMs: DAY, untilMs: DAY + 1 };
    const listed = await listRecords(far.db, { ...query, limit: 10 });
    expect(listed.rows.map((row) => row.receivedAtMs)).toEqual([DAY]);
  });
});
