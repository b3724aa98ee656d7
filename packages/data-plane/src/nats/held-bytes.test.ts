import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HeldBytes } from './held-bytes.ts';

const KEPT_MS = 1000;

describe('the bytes that owners have in a bucket', () => {
  it('count as long as the bucket keeps them, and at most a tenth longer', () => {
    const held = new HeldBytes(KEPT_MS);
    held.wrote('a', 10, 50);
    held.wrote('b', 7, 99);
    expect([held.of('a', 1050), held.of('b', 1050), held.of('c', 1050)]).toEqual([10, 7, 0]);
    expect(held.of('a', 1100)).toBe(0);
  });

  it('count once for an entry that is written again, from then on', () => {
    const held = new HeldBytes(KEPT_MS);
    const entry = {};
    held.wrote('a', 10, 0, entry);
    held.wrote('a', 12, 600, entry);
    expect(held.of('a', 600)).toBe(12);
    expect(held.of('a', 1500)).toBe(12);
    expect(held.of('a', 1700)).toBe(0);
  });

  it('count once for an entry that was forgotten and is written again as another object', () => {
    const held = new HeldBytes(KEPT_MS);
    let entry = {};
    held.wrote('a', 10, 0, entry);
    held.wrote('a', 10, 50, {});
    for (let nowMs = 100; nowMs <= 500; nowMs += 100) {
      held.forgot(entry);
      entry = {};
      held.wrote('a', 12, nowMs, entry, true);
      expect(held.of('a', nowMs)).toBe(22);
    }
    // As long as the bucket keeps it since it was written last.
    expect(held.of('a', 1200)).toBe(12);
    expect(held.of('a', 1600)).toBe(0);
    // An entry that exists and was not written by this process takes the place of no other.
    held.wrote('a', 10, 2000, {});
    held.wrote('a', 10, 2000, {}, true);
    expect(held.of('a', 2000)).toBe(20);
  });

  it('are never less than those of the entries that a bucket still has', () => {
    const write = fc.record({
      ...{ afterMs: fc.nat(400), owner: fc.nat(2), entry: fc.nat(5) },
      forget: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 60 }), (writes) => {
        const held = new HeldBytes(KEPT_MS);
        const entries = Array.from({ length: 6 }, () => ({}));
        const stored = new Map<number, { readonly owner: number; readonly atMs: number }>();
        let nowMs = 0;
        for (const { afterMs, owner, entry, forget } of writes) {
          nowMs += afterMs;
          if (forget) held.forgot(entries[entry] as object);
          if (forget) entries[entry] = {};
          const { owner: former } = stored.get(entry) ?? {};
          stored.set(entry, { owner, atMs: nowMs });
          held.wrote(String(owner), 1, nowMs, entries[entry], former === owner);
          for (const one of [0, 1, 2]) {
            const kept = [...stored.values()].filter(
              ({ owner: of, atMs }) => of === one && nowMs - atMs <= KEPT_MS,
            );
            expect(held.of(String(one), nowMs)).toBeGreaterThanOrEqual(kept.length);
          }
        }
      }),
    );
  });
});
