import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ChurningSet } from './churning-set.ts';

describe('a churning set', () => {
  it('has the members that were added and not removed', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100)), (steps) => {
        const set = new ChurningSet<{ place: number }>();
        const model: { place: number }[] = [];
        for (const step of steps) {
          const [removed] = step % 2 === 0 ? model.splice(step % (model.length + 1), 1) : [];
          if (removed !== undefined) set.remove(removed);
          else {
            const added = { place: -1 };
            model.push(added);
            set.add(added);
          }
          expect(set.size).toBe(model.length);
          expect(new Set(set.all())).toEqual(new Set(model));
        }
      }),
    );
  });

  it('leaves out none from the last to the first, if others are removed meanwhile', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 10 }), (removals) => {
        const set = new ChurningSet<{ place: number }>();
        const left = new Set(Array.from({ length: 10 }, () => ({ place: -1 })));
        const seen = new Set<object>();
        for (const member of left) set.add(member);
        for (let index = set.size - 1; index >= 0; index -= 1) {
          const member = set.at(index);
          if (member !== undefined) seen.add(member);
          const other = set.all()[removals.pop() ?? 99];
          if (other === undefined) continue;
          set.remove(other);
          left.delete(other);
        }
        for (const member of left) expect(seen.has(member)).toBe(true);
      }),
    );
  });
});
