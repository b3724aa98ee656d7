import { describe, expect, it } from '@jest/globals';
import { Loads } from './bulkheads.ts';

describe('the loads of tenants', () => {
  it('are those in use and a bounded number of others, while tenants come and go or are only looked at', () => {
    const loads = new Loads();
    const busy = loads.of('busy');
    busy.take();
    // Summed, because a quarter of a million calls of `expect` take seconds.
    let counted = 0;
    for (let tenant = 0; tenant < 110_000; tenant += 1) {
      const load = loads.of(`t${tenant}`);
      load.take();
      load.release();
      counted += loads.of(`t${tenant}`).count + loads.of(`other ${tenant}`).count;
    }
    expect(counted).toBe(0);
    expect(loads.size).toBe(100_000);
    expect(loads.of('busy')).toBe(busy);
    expect(busy.count).toBe(1);
  });

  it('of many tenants in use are all kept', () => {
    const loads = new Loads();
    const all = Array.from({ length: 5000 }, (_none, index) => {
      const load = loads.of(String(index));
      load.take();
      return load;
    });
    expect(all.every((load, index) => loads.of(String(index)) === load)).toBe(true);
  });
});
