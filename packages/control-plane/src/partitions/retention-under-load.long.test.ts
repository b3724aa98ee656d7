import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { timeOfId } from '@gateway/shared/ids';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { REQUEST_RECORDS } from './partitioned-table.ts';
import { listPartitions, createPartitions } from './store/partitions.ts';
import { findRecord, insertRecords } from '../requests/store/records.ts';
import { requestRecord } from '@gateway/shared/test/request-record';
import { openTestStore, type TestStore } from '../../test/store.ts';
import { maintainPartitions } from './maintain-partitions.ts';
import { storableRecord } from '../requests/ingest/storable-record.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const TODAY = Date.UTC(2030, 5, 15);
const PAST = TODAY - 40 * DAY_MS;
/** A run waits for locks for 0.8 s at the longest; the rest is for a busy machine. */
const LONGEST_WAIT_MS = 3000;
const log = createLogger('test', 'silent');
const never = new AbortController().signal;
const clock = {
  nowMs: () => TODAY,
  monotonicMs: () => performance.now(),
  setTimer: (delayMs: number, callback: () => void) => {
    const handle = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
};

let store: TestStore;
beforeEach(async () => void (store = await openTestStore()));
afterEach(() => store.close());

/** Inserts and looks up what it inserted, without a pause, until it is stopped. */
function startTraffic() {
  let stopped = false;
  const seen = { inserted: 0, longestMs: 0 };
  const timed = async <T>(work: () => Promise<T>): Promise<T> => {
    const startedMs = performance.now();
    const result = await work();
    seen.longestMs = Math.max(seen.longestMs, performance.now() - startedMs);
    return result;
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      const records = [1, 2, 3].map((ms) => storableRecord(requestRecord(TODAY + ms)));
      seen.inserted += await timed(() => insertRecords(store.db, records));
      const [{ id } = { id: '' }] = records;
      expect(await timed(() => findRecord(store.db, id, timeOfId(id)))).toMatchObject({ id });
    }
  };
  const running = Promise.all([run(), run(), run()]);
  return {
    seen,
    stop: () => {
      stopped = true;
      return running;
    },
  };
}

describe('retention during traffic', () => {
  it('does not delay writers for long, even with a reader that never ends', async () => {
    const retention = () => maintainPartitions({ db: store.db, clock, log }, never);
    await retention();
    await createPartitions(store.db, REQUEST_RECORDS, [PAST]);
    await insertRecords(store.db, [storableRecord(requestRecord(PAST))]);
    const traffic = startTraffic();
    await store.db.transaction().execute(async (reader) => {
      await sql`SELECT count(*) FROM request_records`.execute(reader);
      // Else the drop would wait for this reader, and all traffic behind it.
      await expect(retention()).rejects.toThrow('the table stayed in use');
    });
    const { inserted } = traffic.seen;
    expect(await listPartitions(store.db, REQUEST_RECORDS)).toContain(PAST);
    await retention();
    expect(await listPartitions(store.db, REQUEST_RECORDS)).not.toContain(PAST);
    await eventually(() => expect(traffic.seen.inserted).toBeGreaterThan(inserted));
    await traffic.stop();
    expect(inserted).toBeGreaterThan(0);
    expect(traffic.seen.longestMs).toBeLessThan(LONGEST_WAIT_MS);
    if (process.env['TEST_FIGURES'] === '1') {
      process.stdout.write(`longest wait of traffic: ${Math.round(traffic.seen.longestMs)} ms\n`);
    }
  }, 30_000);
});
