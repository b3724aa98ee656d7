import { manualClock } from '@gateway/shared/test/manual-clock';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RecentBatches } from './recent-batches.ts';

const sizes = (max: number) => fc.array(fc.integer({ min: 1, max }), { maxLength: 60 });
const batch = (id: string, bytes = 10) => ({ id, body: Buffer.alloc(bytes), records: 1 });
const filled = (index: number, bytes: number) => ({
  ...batch(String(index)),
  body: Buffer.alloc(bytes, index),
});

function setUp() {
  const clock = manualClock();
  const recent = new RecentBatches({ clock, keptMs: 1000, maxBytes: 100 });
  const ids = () => recent.takeAll().map(({ id }) => id);
  return { clock, recent, ids };
}

describe('the batches that were stored last', () => {
  it('are returned once, oldest first', () => {
    const { recent, ids } = setUp();
    for (const id of ['a', 'b', 'c']) recent.add(batch(id));
    expect(ids()).toEqual(['a', 'b', 'c']);
    expect([ids(), recent.bytes]).toEqual([[], 0]);
  });

  it('are those of the time before the last one, however old that is', () => {
    const { clock, recent, ids } = setUp();
    recent.add(batch('a'));
    clock.advance(1);
    recent.add(batch('b'));
    clock.advance(1000);
    recent.add(batch('c'));
    clock.advance(60_000);
    expect(ids()).toEqual(['b', 'c']);
  });

  it('never exceed the ring', () => {
    const { recent, ids } = setUp();
    recent.add(batch('a', 60));
    recent.add(batch('b', 30));
    recent.add(batch('c', 20));
    expect(recent.bytes).toBe(50);
    recent.add(batch('d', 101));
    expect([recent.bytes, ids()]).toEqual([0, []]);
  });

  it('are complete and the newest ones, whatever their sizes', () => {
    fc.assert(
      fc.property(sizes(120), (all) => {
        const { recent } = setUp();
        const sent = all.map((size, index) => filled(index, size));
        for (const one of sent) recent.add(one);
        expect(recent.bytes).toBeLessThanOrEqual(100);
        const kept = recent.takeAll();
        expect(kept).toEqual(kept.length === 0 ? [] : sent.slice(-kept.length));
      }),
    );
  });

  it('use the whole ring, except for the rests at its end and before the oldest', () => {
    fc.assert(
      fc.property(sizes(20), (all) => {
        const { recent } = setUp();
        for (const [index, size] of all.entries()) recent.add(filled(index, size));
        const total = all.reduce((sum, size) => sum + size, 0);
        expect(recent.bytes).toBeGreaterThan(Math.min(total, 100 - 2 * 20) - 1);
      }),
    );
  });
});
