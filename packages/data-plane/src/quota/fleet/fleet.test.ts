import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  ALL_PARTS,
  balanced,
  decodeFleet,
  encodeFleet,
  join,
  NO_FLEET,
  remove,
  shareOf,
  withMember,
  type Fleet,
} from './fleet.ts';

const total = (fleet: Fleet) => fleet.members.reduce((sum, { parts }) => sum + parts, 0);

type Change = 'join' | { readonly remove: number } | { readonly balance: number };
const changes: fc.Arbitrary<Change> = fc.oneof(
  fc.constant('join' as const),
  fc.record({ remove: fc.nat(9) }),
  fc.record({ balance: fc.nat(9) }),
);

function apply(fleet: Fleet, change: Change, nowMs: number): Fleet {
  if (change === 'join') return join(fleet, `dp-${fleet.next_slot}`);
  const at = 'remove' in change ? change.remove : change.balance;
  const slot = fleet.members[at % Math.max(1, fleet.members.length)]?.slot;
  if (slot === undefined) return fleet;
  if ('remove' in change) return remove(fleet, new Set([slot]));
  const member = balanced(fleet, slot, nowMs);
  return member === undefined ? fleet : withMember(fleet, member);
}

describe('a fleet', () => {
  it('never divides more than the whole limit, whatever joins, leaves and balances', () => {
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 60 }), (all) => {
        let fleet = NO_FLEET;
        for (const [at, change] of all.entries()) {
          fleet = apply(fleet, change, at);
          expect(total(fleet)).toBeLessThanOrEqual(ALL_PARTS);
          expect(new Set(fleet.members.map(({ slot }) => slot)).size).toBe(fleet.members.length);
        }
      }),
    );
  });

  it('of up to 16 members divides a limit without remainder if that is possible', () => {
    for (let members = 1; members <= 16; members += 1) {
      let fleet = NO_FLEET;
      for (let slot = 0; slot < members; slot += 1) fleet = join(fleet, `dp-${slot}`);
      const own = balanced(fleet, 0, 1000);
      const of = { limit: members, startMs: 1000, windowMs: 1000, nowMs: 1000 };
      expect(own === undefined ? 0 : shareOf(own, of)).toBe(1);
    }
  });

  it('is divided equally once all have balanced, in any order', () => {
    const orders = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 });
    fc.assert(
      fc.property(orders, orders, (first, second) => {
        let fleet = NO_FLEET;
        for (const id of ['a', 'b', 'c', 'd']) fleet = join(fleet, id);
        // Who has too much makes room in the first round.
        fleet = withMember(fleet, { slot: 0, id: 'a', parts: ALL_PARTS, from_ms: 0 });
        for (const slot of [...first, ...second]) {
          const member = balanced(fleet, slot, 9);
          if (member !== undefined) fleet = withMember(fleet, member);
        }
        expect(fleet.members.map(({ parts }) => parts)).toEqual(Array(4).fill(ALL_PARTS / 4));
      }),
    );
  });

  it('keeps the start of a share that becomes smaller, and sets that of one that becomes larger', () => {
    const one = join(NO_FLEET, 'a');
    const whole = balanced(one, 0, 500);
    expect(whole).toEqual({ slot: 0, id: 'a', parts: ALL_PARTS, from_ms: 500 });
    if (whole === undefined) throw new Error('no share');
    const two = join(withMember(one, whole), 'b');
    expect(balanced(two, 0, 900)).toMatchObject({ parts: ALL_PARTS / 2, from_ms: 500 });
    expect(balanced(two, 1, 900)).toBeUndefined();
  });

  it('reserves a share in windows that begin when it holds, and not in those that began before', () => {
    const member = { slot: 0, id: 'a', parts: ALL_PARTS / 4, from_ms: 1000 };
    expect(shareOf(member, { limit: 10, startMs: 1000 })).toBe(2);
    expect(shareOf(member, { limit: 10, startMs: 999 })).toBe(0);
  });

  it('is read as it was stored, and not in an unknown format', () => {
    const fleet = join(join(NO_FLEET, 'a'), 'b');
    const stored = encodeFleet(fleet);
    expect(decodeFleet(Buffer.from(stored))).toEqual(fleet);
    const later = stored.replace('"format":1', '"format":9');
    expect(() => decodeFleet(Buffer.from(later))).toThrow('must be');
  });
});
