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

  it('are never less than those of the entries that a bucket still has', () => {
    const write = fc.record({ afterMs: fc.nat(400), owner: fc.nat(2), entry: fc.nat(5) });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 60 }), (writes) => {
        const held = new HeldBytes(KEPT_MS);
        const entries = Array.from({ length: 6 }, () => ({}));
        const stored = new Map<number, { readonly owner: number; readonly atMs: number }>();
        let nowMs = 0;
        for (const { afterMs, owner, entry } of writes) {
          nowMs += afterMs;
          stored.set(entry, { owner, atMs: nowMs });
          held.wrote(String(owner), 1, nowMs, entries[entry]);
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
