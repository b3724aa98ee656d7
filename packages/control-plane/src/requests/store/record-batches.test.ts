import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { requestRecord } from '@gateway/shared/test/request-record';
import { openTestStore, type TestStore } from '../../../test/store.ts';
import { storableRecord } from '../ingest/storable-record.ts';
import {
  closeGaps,
  countMissingBatches,
  deleteEndedProcesses,
  noteBatches,
} from './record-batches.ts';
import { insertRecords } from './records.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());
beforeEach(() => sql`DELETE FROM record_batches`.execute(store.db));

const note = (process: string, ...sequences: readonly number[]) =>
  noteBatches(
    store.db,
    sequences.map((sequence) => ({ process, sequence })),
  );

describe('the batches that are missing', () => {
  it('are none while all arrive, in any order, and some twice', async () => {
    await note('a', 3, 1, 2);
    await note('b', 7);
    await note('a', 2, 5, 4);
    await note('a', 5);
    expect(await countMissingBatches(store.db)).toBe(0);
  });

  it('are those between others of the same process, until they arrive', async () => {
    await note('a', 1, 2, 6);
    await note('b', 1, 3);
    expect(await countMissingBatches(store.db)).toBe(4);
    await note('a', 4, 5);
    expect(await countMissingBatches(store.db)).toBe(2);
    await note('b', 2);
    await note('a', 3);
    expect(await countMissingBatches(store.db)).toBe(0);
  });

  it('stay counted when their gaps are closed, which leaves a row with few ranges', async () => {
    const sequences = fc.uniqueArray(fc.integer({ min: 1, max: 300 }), {
      minLength: 1,
      maxLength: 80,
    });
    await fc.assert(
      fc.asyncProperty(sequences, fc.integer({ min: 1, max: 5 }), async (arrived, maxRanges) => {
        await sql`DELETE FROM record_batches`.execute(store.db);
        await note('a', ...arrived);
        const missing = Math.max(...arrived) - Math.min(...arrived) + 1 - arrived.length;
        expect(await countMissingBatches(store.db)).toBe(missing);
        await closeGaps(store.db, maxRanges);
        expect(await countMissingBatches(store.db)).toBe(missing);
        const { rows } = await sql<{ ranges: number }>`
          SELECT count(*)::int AS ranges FROM record_batches, unnest(received)
        `.execute(store.db);
        expect(rows[0]?.ranges).toBeLessThanOrEqual(maxRanges);
      }),
      { numRuns: 30 },
    );
  });

  it('are forgotten with their process', async () => {
    await note('a', 1, 9);
    await deleteEndedProcesses(store.db, new Date(Date.now() - 60_000));
    expect(await countMissingBatches(store.db)).toBe(7);
    await deleteEndedProcesses(store.db, new Date(Date.now() + 60_000));
    expect(await countMissingBatches(store.db)).toBe(0);
  });

  it('do not include a batch that is stored with its records, by several writers at once', async () => {
    const insert = (sequence: number) =>
      insertRecords(
        store.db,
        [storableRecord(requestRecord(Date.now()))],
        [
          { process: 'a', sequence },
          { process: 'b', sequence },
        ],
      );
    await Promise.all([1, 2, 3, 4, 5, 6, 8].map(insert));
    expect(await countMissingBatches(store.db)).toBe(2);
  });
});
