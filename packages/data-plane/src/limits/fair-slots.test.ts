import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FairSlots } from './bulkheads.ts';

/** Takes as many of these slots as the tenant gets, at most `wanted`. */
function takeMany(slots: FairSlots, id: string, wanted: number): number {
  const tenant = slots.loadOf(id);
  let taken = 0;
  while (taken < wanted && slots.hasRoomFor(tenant)) {
    slots.take(tenant);
    taken += 1;
  }
  return taken;
}

describe('fair slots', () => {
  it('give one tenant alone three of four slots', () => {
    expect(takeMany(new FairSlots(10_000), 'a', 10_000)).toBe(7_500);
  });

  it.each([1, 2, 3])('give one tenant all of %i slots', (max) => {
    expect(takeMany(new FairSlots(max), 'a', 100)).toBe(max);
  });

  it('leave room for a tenant that comes after greedy ones', () => {
    const slots = new FairSlots(10_000);
    const greedy = Array.from({ length: 20 }, (_none, index) =>
      takeMany(slots, `g${index}`, 10_000),
    );
    expect(greedy[0]).toBe(7500);
    // The first ones took nearly all, and still the last ones got some.
    expect(Math.min(...greedy)).toBeGreaterThan(0);
    expect(takeMany(slots, 'late', 3)).toBe(3);
  });

  it('are shared evenly by tenants that come at the same time', () => {
    const slots = new FairSlots(10_000);
    const held = new Map<string, number>();
    for (let round = 0; round < 10_000; round += 1) {
      for (const id of ['a', 'b']) held.set(id, (held.get(id) ?? 0) + takeMany(slots, id, 1));
    }
    const [a = 0, b = 0] = held.values();
    expect(Math.abs(a - b)).toBeLessThanOrEqual(1);
    expect(a).toBeGreaterThan(4000);
  });

  it('are never more than there are, and refuse those with the most first', () => {
    const step = fc.record({ tenant: fc.integer({ min: 0, max: 5 }), leaves: fc.boolean() });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.array(step), (max, steps) => {
        const slots = new FairSlots(max);
        const held = Array.from({ length: 6 }, () => 0);
        for (const { tenant: index, leaves } of steps) {
          const count = held[index] ?? 0;
          const tenant = slots.loadOf(String(index));
          if (leaves && count !== 0) {
            tenant.release();
            slots.release();
            held[index] = count - 1;
          } else if (slots.hasRoomFor(tenant)) {
            slots.take(tenant);
            held[index] = count + 1;
          } else {
            // Every tenant that holds as many or more is refused too.
            for (const [other, others] of held.entries()) {
              if (others < count) continue;
              expect(slots.hasRoomFor(slots.loadOf(String(other)))).toBe(false);
            }
          }
          const inUse = held.reduce((sum, one) => sum + one, 0);
          expect(slots.count).toBe(inUse);
          expect(inUse).toBeLessThanOrEqual(max);
          // A tenant without any gets one as long as one is free.
          expect(slots.hasRoomFor(slots.loadOf('new'))).toBe(inUse < max);
        }
      }),
    );
  });
});
