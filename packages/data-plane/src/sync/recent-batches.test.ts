import { manualClock } from '@gateway/shared/testing/manual-clock';
import { describe, expect, it } from '@jest/globals';
import { RecentBatches } from './recent-batches.ts';

const batch = (id: string, bytes = 10) => ({ id, body: Buffer.alloc(bytes), records: 1 });

function setUp() {
  const clock = manualClock();
  const recent = new RecentBatches({ clock, keptMs: 1000, maxBytes: 100 });
  const ids = () => recent.takeAll().map(({ id }) => id);
  return { clock, recent, ids };
}

describe('the batches that were sent last', () => {
  it('are given once, oldest first', () => {
    const { recent, ids } = setUp();
    for (const id of ['a', 'b', 'c']) recent.add(batch(id));
    expect(ids()).toEqual(['a', 'b', 'c']);
    expect([ids(), recent.bytes]).toEqual([[], 0]);
  });

  it('are those of the time before the last one, however long ago that was', () => {
    const { clock, recent, ids } = setUp();
    recent.add(batch('a'));
    clock.advance(1);
    recent.add(batch('b'));
    clock.advance(1000);
    recent.add(batch('c'));
    clock.advance(60_000);
    expect(ids()).toEqual(['b', 'c']);
  });

  it('are never more than fit', () => {
    const { recent, ids } = setUp();
    recent.add(batch('a', 60));
    recent.add(batch('b', 30));
    recent.add(batch('c', 20));
    expect(recent.bytes).toBe(50);
    recent.add(batch('d', 101));
    expect([recent.bytes, ids()]).toEqual([0, []]);
  });
});
