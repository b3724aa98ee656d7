import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createIdFactory, isId, lowestId, systemRandom, timeOfId } from './ids.ts';

describe('ids', () => {
  it('contain their creation time, for any time of 48 bits', () => {
    const aboutASecondLater = fc.integer({ min: 0, max: 3000 });
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 48 - 9001 }),
        fc.array(aboutASecondLater, { maxLength: 3 }),
        (ms, steps) => {
          const makeId = createIdFactory(() => ms);
          const times = steps.reduce((all, step) => [...all, (all.at(-1) ?? 0) + step], [ms]);
          for (const time of [...times, ms]) {
            const id = makeId('req', time);
            expect(isId('req', id)).toBe(true);
            expect(timeOfId(id)).toBe(time);
          }
          expect(timeOfId(makeId('req'))).toBe(ms);
        },
      ),
    );
  });

  it('sort by their creation time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 47 }), fc.integer({ min: 1 }), (ms, later) => {
        const first = createIdFactory(() => ms)('svc');
        const second = createIdFactory(() => ms + later)('svc');
        expect(first < second).toBe(true);
      }),
    );
  });

  it('are at least the lowest id of their time, and earlier ids are below it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 48 - 1 }), (ms) => {
        const lowest = lowestId('req', ms);
        expect(isId('req', lowest) && timeOfId(lowest) === ms).toBe(true);
        expect(createIdFactory(() => ms)('req') >= lowest).toBe(true);
        expect(createIdFactory(() => ms - 1)('req') < lowest).toBe(true);
      }),
    );
  });

  it('never repeat within a millisecond', () => {
    const makeId = createIdFactory(() => 1);
    const ids = new Set(Array.from({ length: 20_000 }, () => makeId('req')));
    expect(ids.size).toBe(20_000);
  });

  it('are recognized by their form', () => {
    for (const text of [
      '',
      'req_',
      'svc_00000000000000000000000000',
      'req_0000000000000000000000000u',
    ]) {
      expect(isId('req', text)).toBe(false);
    }
  });
});

describe('the random source of the system', () => {
  it('never draws the same bytes twice, and fills draws of every length', () => {
    const drawn = new Set<string>();
    for (const length of [8, 12, 16, 63, 64, 65, 20_000]) {
      for (let draw = 0; draw < 1000; draw += 1) {
        const bytes = new Uint8Array(length);
        systemRandom(bytes);
        drawn.add(Buffer.from(bytes.subarray(0, 8)).toString('hex'));
        drawn.add(Buffer.from(bytes.subarray(-8)).toString('hex'));
      }
    }
    // A draw of 8 bytes begins and ends with the same ones.
    expect(drawn.size).toBe(13_000);
  });

  it('erases from its pool what was drawn', () => {
    let pooled: Uint8Array = new Uint8Array();
    class Draw extends Uint8Array {
      override set(source: Uint8Array): void {
        pooled = source;
        super.set(source);
      }
    }
    const bytes = new Draw(32);
    systemRandom(bytes);
    expect(pooled).toHaveLength(32);
    expect(bytes.every((byte) => byte === 0)).toBe(false);
    expect(pooled.every((byte) => byte === 0)).toBe(true);
  });
});
