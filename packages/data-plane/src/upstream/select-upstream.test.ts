import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { selectUpstream } from './select-upstream.ts';

const HEALTHY = { usable: true, ejected: false, reachable: true };
const UNREACHABLE = { ...HEALTHY, reachable: false };
const FAILING = { usable: false, ejected: false, reachable: true };
const AWAY = { ...FAILING, reachable: false };
const EJECTED = { usable: false, ejected: true, reachable: true };

interface Example {
  readonly inFlight: number;
  readonly weight: number;
  readonly region: string | null;
  readonly health: typeof HEALTHY;
}

const DEFAULT: Example = { inFlight: 0, weight: 1, region: null, health: HEALTHY };
const NONE: ReadonlySet<number> = new Set();

function choose(
  examples: readonly Partial<Example>[],
  { tried = NONE, regions = [] as readonly string[], random = (): number => 0 } = {},
): number {
  const all = examples.map((one) => ({ ...DEFAULT, ...one }));
  return selectUpstream(
    all,
    all.map((one) => one.health),
    regions,
    tried,
    { region: 'eu', load: { inFlight: (one) => one.inFlight }, random },
  );
}

/** Every index that is chosen with some random numbers. */
function chosenOf(examples: readonly Partial<Example>[], options = {}): Set<number> {
  const chosen = new Set<number>();
  for (let step = 0; step < 40; step += 1) {
    let draws = 0;
    const random = () => ((step * 7 + (draws += 1) * 13) % 40) / 40;
    chosen.add(choose(examples, { ...options, random }));
  }
  return chosen;
}

/** Numbers in [0, 1), the same in each run (the generator of Park and Miller). */
function seededRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state - 1) / 2_147_483_646;
  };
}

/** The share of requests of each candidate, if this many callers each send one request after the other. */
function sharesOf(weights: readonly number[], callers: number): number[] {
  const requests = 20_000;
  const random = seededRandom();
  const counts = weights.map(() => 0);
  const inFlight: number[] = [];
  for (let request = 0; request < requests; request += 1) {
    if (inFlight.length === callers) inFlight.splice(Math.floor(random() * callers), 1);
    const all = weights.map((weight, index) => ({
      weight,
      inFlight: inFlight.filter((one) => one === index).length,
    }));
    const chosen = choose(all, { random });
    counts[chosen] = (counts[chosen] ?? 0) + 1;
    inFlight.push(chosen);
  }
  return counts.map((count) => count / requests);
}

const region = fc.constantFrom('eu', 'us', 'asia', null);
const example = fc.record({
  inFlight: fc.nat(20),
  weight: fc.integer({ min: 1, max: 5 }),
  region,
  health: fc.constantFrom(HEALTHY, UNREACHABLE, FAILING, AWAY, EJECTED),
});
const examples = fc.array(example, { minLength: 1, maxLength: 6 });
const draws = fc.infiniteStream(fc.double({ min: 0, max: 0.999_999, noNaN: true }));

describe('selectUpstream', () => {
  it('returns the index of a candidate, whatever their health', () => {
    fc.assert(
      fc.property(examples, fc.array(fc.nat(5)), draws, (all, indices, random) => {
        const tried = new Set(indices);
        const chosen = choose(all, { tried, random: () => Number(random.next().value) });
        expect(chosen).toBeGreaterThanOrEqual(0);
        expect(chosen).toBeLessThan(all.length);
      }),
    );
  });

  it('never selects an unhealthy one while there is a healthy one that was not tried', () => {
    fc.assert(
      fc.property(examples, fc.array(fc.nat(5)), draws, (all, indices, random) => {
        const tried = new Set(indices);
        const left = all.some((one, index) => one.health.usable && !tried.has(index));
        fc.pre(left && all.length > 1);
        const chosen = choose(all, { tried, random: () => Number(random.next().value) });
        expect(all[chosen]?.health.usable).toBe(true);
        expect(tried.has(chosen)).toBe(false);
      }),
    );
  });

  it('stays in its region while there is a healthy upstream, including those without a region', () => {
    fc.assert(
      fc.property(examples, draws, (all, random) => {
        const own = (one: { region: string | null } | undefined) =>
          one?.region === 'eu' || one?.region === null;
        fc.pre(all.length > 1 && all.some((one) => one.health.usable && own(one)));
        const chosen = choose(all, { random: () => Number(random.next().value) });
        expect(own(all[chosen])).toBe(true);
      }),
    );
  });

  it('uses the regions of the route in their order, then any region', () => {
    const eu = { region: 'eu', health: FAILING };
    const us = { region: 'us' };
    const asia = { region: 'asia' };
    const africa = { region: 'africa' };
    expect(chosenOf([eu, us, asia, africa], { regions: ['asia', 'us'] })).toEqual(new Set([2]));
    expect(
      chosenOf([eu, us, { ...asia, health: EJECTED }, africa], { regions: ['asia', 'us'] }),
    ).toEqual(new Set([1]));
    expect(chosenOf([eu, us, africa])).toEqual(new Set([1, 2]));
  });

  it('tries all of them if none is healthy, in any region', () => {
    const failing = [{ region: 'eu' }, { region: 'us' }, { region: null }];
    const all = failing.map((one) => ({ ...one, health: FAILING }));
    expect(chosenOf(all)).toEqual(new Set([0, 1, 2]));
  });

  it('prefers upstreams that fail their checks to ejected ones', () => {
    expect(chosenOf([{ health: EJECTED }, { health: FAILING }])).toEqual(new Set([1]));
    expect(chosenOf([{ health: EJECTED }, { health: EJECTED }])).toEqual(new Set([0, 1]));
  });

  it('selects unreachable upstreams last if none is healthy', () => {
    expect(chosenOf([{ health: AWAY }, { health: FAILING }])).toEqual(new Set([1]));
    expect(chosenOf([{ health: AWAY }, { health: EJECTED }])).toEqual(new Set([1]));
    const tried = new Set([1]);
    expect(chosenOf([{ health: AWAY }, { health: EJECTED }], { tried })).toEqual(new Set([1]));
    expect(chosenOf([{ health: AWAY }, { health: AWAY }])).toEqual(new Set([0, 1]));
    expect(chosenOf([{ health: AWAY }, { health: AWAY }], { tried })).toEqual(new Set([0]));
  });

  it('sends a retry to another upstream: first in its region, then in another one', () => {
    const eu = { region: 'eu' };
    const us = { region: 'us' };
    expect(chosenOf([eu, eu, us], { tried: new Set([0]) })).toEqual(new Set([1]));
    expect(chosenOf([eu, us], { tried: new Set([0]) })).toEqual(new Set([1]));
  });

  it('leaves its region after two failed attempts there, even if others there seem healthy', () => {
    const all = [{ region: 'eu' }, { region: 'eu' }, { region: 'eu' }, { region: 'us' }];
    expect(chosenOf(all, { tried: new Set([0, 1]) })).toEqual(new Set([3]));
  });

  it('prefers one that was tried and reached to one that fails its checks, but not an unreachable one', () => {
    const tried = new Set([0]);
    expect(chosenOf([{}, { health: FAILING }], { tried })).toEqual(new Set([0]));
    expect(chosenOf([{ health: UNREACHABLE }, { health: FAILING }], { tried })).toEqual(
      new Set([1]),
    );
  });

  it('selects the one with fewer requests in flight of any two', () => {
    const pair = [{ inFlight: 9 }, { inFlight: 1 }];
    expect(chosenOf(pair)).toEqual(new Set([1]));
  });

  it('compares requests in flight relative to the weight', () => {
    const pair = [
      { inFlight: 5, weight: 10 },
      { inFlight: 1, weight: 1 },
    ];
    expect(chosenOf(pair)).toEqual(new Set([0]));
  });

  it.each([
    { weights: [3, 1], callers: 1 },
    { weights: [3, 1], callers: 4 },
    { weights: [9, 1], callers: 1 },
    { weights: [9, 1], callers: 16 },
    { weights: [100, 1], callers: 4 },
    { weights: [5, 3, 2], callers: 1 },
    { weights: [10, 1, 1, 1], callers: 64 },
  ])(
    'gives each about its share by weight, even if little is in flight: %j',
    ({ weights, callers }) => {
      const shares = sharesOf(weights, callers);
      const sum = weights.reduce((total, weight) => total + weight, 0);
      shares.forEach((share, index) => {
        const wanted = (weights[index] ?? 0) / sum;
        expect(share / wanted).toBeGreaterThan(0.6);
        expect(share / wanted).toBeLessThan(1.4);
      });
    },
  );

  it('returns −1 if there are none', () => {
    expect(choose([])).toBe(-1);
  });
});
