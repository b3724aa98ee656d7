import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RecordBatch } from './record-batcher.ts';
import { decodeFrames, encodeFrame } from './spool-frame.ts';

const batch = fc.record({
  id: fc.string({ unit: 'binary-ascii', maxLength: 60 }),
  body: fc.uint8Array({ maxLength: 300 }),
  records: fc.integer({ min: 0, max: 500 }),
});

/** Bodies as plain arrays, because equal buffers may be views of different memory. */
function plain(batches: readonly RecordBatch[]) {
  return batches.map(({ id, body, records }) => ({ id, body: [...body], records }));
}

describe('a spool file', () => {
  it('returns the batches that were written', () => {
    fc.assert(
      fc.property(fc.array(batch), (batches) => {
        const file = Buffer.concat(batches.map(encodeFrame));
        const read = decodeFrames(file);
        expect(plain(read.batches)).toEqual(plain(batches));
        expect(read).toMatchObject({ tornBytes: 0, damagedBytes: 0 });
      }),
    );
  });

  it('that is truncated anywhere returns exactly the complete batches', () => {
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 6 }), fc.nat(), (batches, where) => {
        const frames = batches.map(encodeFrame);
        const file = Buffer.concat(frames);
        const cut = where % (file.length + 1);
        let whole = 0;
        for (let end = 0; ; whole += 1) {
          end += frames[whole]?.length ?? Infinity;
          if (end > cut) break;
        }
        const read = decodeFrames(file.subarray(0, cut));
        expect(plain(read.batches)).toEqual(plain(batches.slice(0, whole)));
      }),
    );
  });

  it('that is damaged anywhere returns every other batch, and the number of skipped bytes', () => {
    const many = fc.array(batch, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(many, fc.nat(), fc.integer({ min: 1, max: 255 }), (batches, where, flip) => {
        const frames = batches.map(encodeFrame);
        const file = Buffer.concat(frames);
        const at = where % file.length;
        file.writeUInt8(file.readUInt8(at) ^ flip, at);
        let damaged = 0;
        for (let end = frames[0]?.length ?? 0; end <= at; end += frames[damaged]?.length ?? 0) {
          damaged += 1;
        }
        const { batches: read, tornBytes, damagedBytes } = decodeFrames(file);
        expect(plain(read)).toEqual(plain(batches.filter((_, index) => index !== damaged)));
        const bytes = frames[damaged]?.length;
        const isLast = damaged === frames.length - 1;
        expect([tornBytes, damagedBytes]).toEqual(isLast ? [bytes, 0] : [0, bytes]);
      }),
    );
  });
});
