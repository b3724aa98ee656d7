import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RequestRecord } from '@gateway/shared/records/record';
import {
  MAX_BATCH_BYTES,
  MAX_BATCH_DELAY_MS,
  MAX_BATCH_RECORDS,
  recordBatchSchema,
} from '@gateway/shared/records/record-batch';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { createRecordBatcher, type RecordBatch } from './record-batcher.ts';
import {
  recordBatchText,
  recordsOfBatch,
  requestRecord,
} from '@gateway/shared/test/request-record';

function setUp() {
  const clock = manualClock();
  const batches: RecordBatch[] = [];
  let refused = 0;
  const batcher = createRecordBatcher(clock, {
    emit: (batch) => batches.push(batch),
    tooLarge: () => (refused += 1),
  });
  const add = (record: RequestRecord) => {
    batcher.add(record);
  };
  return { clock, batches, batcher, add, refused: () => refused };
}

function recordsOf(batch: RecordBatch | undefined) {
  return recordsOfBatch(Buffer.from(batch?.body ?? []).toString());
}

describe('the batches of records', () => {
  it('are emitted when their oldest record has waited long enough, not before', () => {
    const { clock, batches, add } = setUp();
    const records = [requestRecord(Date.now()), requestRecord(Date.now())];
    add(records[0] ?? requestRecord(Date.now()));
    clock.advance(MAX_BATCH_DELAY_MS - 1);
    add(records[1] ?? requestRecord(Date.now()));
    expect(batches).toEqual([]);
    clock.advance(1);
    expect(batches).toHaveLength(1);
    expect(recordsOf(batches[0])).toEqual(records);
    clock.advance(MAX_BATCH_DELAY_MS * 10);
    expect(batches).toHaveLength(1);
  });

  it('are emitted at once when they are full', () => {
    const { batches, batcher, add } = setUp();
    for (let index = 0; index < MAX_BATCH_RECORDS; index += 1) add(requestRecord(Date.now()));
    expect(batches.map(({ records }) => records)).toEqual([MAX_BATCH_RECORDS]);
    expect(batcher.records).toBe(0);
  });

  it('are numbered, and name their process by its first request', () => {
    const { batches, batcher, add } = setUp();
    const records = [1, 2, 3].map(() => requestRecord(Date.now()));
    for (const record of records) {
      add(record);
      batcher.flush();
    }
    const places = batches.map(({ body }) => {
      const { process, sequence } = recordBatchSchema.parse(
        JSON.parse(Buffer.from(body).toString()),
      );
      return [process, sequence];
    });
    const process = records[0]?.id;
    expect(places).toEqual([
      [process, 1],
      [process, 2],
      [process, 3],
    ]);
  });

  it('wait for their own time after a full one was emitted', () => {
    const { clock, batches, add } = setUp();
    for (let index = 0; index < MAX_BATCH_RECORDS; index += 1) add(requestRecord(Date.now()));
    clock.advance(MAX_BATCH_DELAY_MS - 1);
    add(requestRecord(Date.now()));
    clock.advance(MAX_BATCH_DELAY_MS - 1);
    expect(batches).toHaveLength(1);
    clock.advance(1);
    expect(batches.map(({ records }) => records)).toEqual([MAX_BATCH_RECORDS, 1]);
  });

  it('do not contain a record that is too large for any batch', () => {
    const { batches, batcher, add, refused } = setUp();
    add(requestRecord(Date.now(), { path: 'x'.repeat(MAX_BATCH_BYTES) }));
    batcher.flush();
    expect(refused()).toBe(1);
    expect(batcher.records).toBe(0);
    expect(batches).toEqual([]);
  });

  it('contain every record once, in order and within the limits, with unique ids', () => {
    const path = fc
      .tuple(
        fc.constantFrom('a', 'é', '\u{1f600}', '"'),
        fc.oneof({ weight: 3, arbitrary: fc.nat(100) }, { weight: 1, arbitrary: fc.nat(200_000) }),
      )
      .map(([char, length]) => char.repeat(length));
    fc.assert(
      fc.property(fc.array(path, { maxLength: 100 }), (paths) => {
        const { batches, batcher, add, refused } = setUp();
        const records = paths.map((one) => requestRecord(Date.now(), { path: one }));
        for (const record of records) add(record);
        batcher.flush();
        const fits = records.filter(
          (record) => Buffer.byteLength(recordBatchText([record])) <= MAX_BATCH_BYTES,
        );
        expect(refused()).toBe(records.length - fits.length);
        expect(batches.flatMap(recordsOf)).toEqual(fits);
        for (const batch of batches) {
          expect(batch.body.length).toBeLessThanOrEqual(MAX_BATCH_BYTES);
          expect(batch.records).toBe(recordsOf(batch).length);
        }
        expect(new Set(batches.map(({ id }) => id)).size).toBe(batches.length);
      }),
      { numRuns: 30 },
    );
  });
});
