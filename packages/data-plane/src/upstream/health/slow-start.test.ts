import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { openHealthWorld, snapshotOf } from '../../../test/health-world.ts';
import { selectUpstream } from '../select-upstream.ts';
import { CONSECUTIVE_FAILURES, EJECTION_MS } from './ejection.ts';
import {
  SLOW_START_MIN_PART,
  SLOW_START_MS,
  SlowStart,
  slowStartPart,
} from './service-balancer.ts';
import { UpstreamState } from './upstream-state.ts';

const NONE: ReadonlySet<number> = new Set();
const A = 'http://a.test';
const B = 'http://b.test';
const REQUESTS = 4000;

/** Numbers in [0, 1), the same in each run (the generator of Park and Miller). */
function seededRandom(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state - 1) / 2_147_483_646;
  };
}

function inSlowStartSince(sinceMs: number | undefined): UpstreamState {
  const state = new UpstreamState();
  state.slowStartSinceMs = sinceMs;
  return state;
}

interface Upstream {
  readonly index: number;
  readonly weight: number;
  readonly region: null;
}

/** The share of requests of each upstream, with as many in flight as there are callers. */
function sharesAt(
  nowMs: number,
  upstreams: readonly { weight: number; sinceMs: number | undefined }[],
  callers: number,
  seed: number,
): number[] {
  const random = seededRandom(seed);
  const candidates = upstreams.map(({ weight }, index): Upstream => {
    return { index, weight, region: null };
  });
  const states = upstreams.map(({ sinceMs }) => inSlowStartSince(sinceMs));
  const slowStart = new SlowStart(candidates, states);
  const counts = upstreams.map(() => 0);
  const inFlight = upstreams.map(() => 0);
  const callsOf: number[] = [];
  const load = { inFlight: ({ index }: Upstream) => inFlight[index] ?? 0 };
  const options = { region: 'eu', load, random };
  for (let request = 0; request < REQUESTS; request += 1) {
    if (callsOf.length === callers) {
      const [ended = 0] = callsOf.splice(Math.floor(random() * callers), 1);
      inFlight[ended] = (inFlight[ended] ?? 0) - 1;
    }
    const now = slowStart.candidates(() => nowMs);
    const chosen = selectUpstream(now, states, [], NONE, options);
    counts[chosen] = (counts[chosen] ?? 0) + 1;
    inFlight[chosen] = (inFlight[chosen] ?? 0) + 1;
    callsOf.push(chosen);
  }
  return counts.map((count) => count / REQUESTS);
}

describe('slow start', () => {
  it('raises the weight in a straight line from a tenth to the whole', () => {
    const parts = [-5, 0, 500, 2000, 5000, 9999, 10_000, 1e9].map((ms) => slowStartPart(0, ms));
    expect(parts).toEqual([0.1, 0.1, 0.1, 0.2, 0.5, 0.9999, 1, 1]);
    expect(SLOW_START_MIN_PART).toBe(0.1);
  });

  it('never lowers a share as time passes, and ends', () => {
    const time = fc.double({ min: 0, max: 2 * SLOW_START_MS, noNaN: true });
    fc.assert(
      fc.property(time, time, fc.integer({ min: 1, max: 1000 }), (one, other, weight) => {
        const slowStart = new SlowStart(
          [{ weight }, { weight }],
          [inSlowStartSince(0), inSlowStartSince(undefined)],
        );
        const [first, second] = [Math.min(one, other), Math.max(one, other)];
        const weightAt = (nowMs: number) => slowStart.candidates(() => nowMs)[0]?.weight ?? 0;
        const before = weightAt(first);
        const after = weightAt(second);
        expect(before).toBeGreaterThanOrEqual(weight * SLOW_START_MIN_PART);
        expect(after).toBeGreaterThanOrEqual(before);
        expect(after).toBeLessThanOrEqual(weight);
        // The weights of a step hold to its end, so one that began just before may outlast the slow start.
        expect(weightAt(3 * SLOW_START_MS)).toBe(weight);
      }),
    );
  });

  it('gives an upstream about the share of its reduced weight, at low and at high load', () => {
    const upstream = fc.record({
      weight: fc.integer({ min: 1, max: 4 }),
      sinceMs: fc.constantFrom(undefined, undefined, 0),
    });
    const upstreams = fc.array(upstream, { minLength: 2, maxLength: 5 });
    const callers = fc.constantFrom(1, 4, 64);
    const seed = fc.integer({ min: 1, max: 1_000_000 });
    const time = fc.constantFrom(0, 2500, 5000, SLOW_START_MS);
    fc.assert(
      fc.property(upstreams, callers, seed, time, (all, inFlight, start, nowMs) => {
        const weights = all.map(({ weight, sinceMs }) => {
          return weight * (sinceMs === undefined ? 1 : slowStartPart(sinceMs, nowMs));
        });
        const sum = weights.reduce((total, weight) => total + weight, 0);
        sharesAt(nowMs, all, inFlight, start).forEach((share, index) => {
          const wanted = (weights[index] ?? 0) / sum;
          expect(Math.abs(share - wanted)).toBeLessThan(0.4 * wanted + 0.02);
        });
      }),
      { numRuns: 60 },
    );
  });

  it('computes nothing and reads no clock while no upstream is in slow start', () => {
    const candidates = [{ weight: 1 }, { weight: 2 }];
    const noClock = (): number => {
      throw new Error('reads the clock');
    };
    const slowStart = new SlowStart(
      candidates,
      candidates.map(() => new UpstreamState()),
    );
    expect(slowStart.candidates(noClock)).toBe(candidates);
    const over = new SlowStart(candidates, [inSlowStartSince(0), new UpstreamState()]);
    expect(over.candidates(() => SLOW_START_MS)).toBe(candidates);
    expect(over.candidates(noClock)).toBe(candidates);
  });
});

describe('an upstream in slow start', () => {
  function openWorld() {
    const world = openHealthWorld({ random: seededRandom() });
    const shareOf = (index: number) => {
      const balancer = world.balancer();
      let count = 0;
      for (let request = 0; request < REQUESTS; request += 1) {
        if (balancer.choose([], NONE) === index) count += 1;
      }
      return count / REQUESTS;
    };
    const rises = (index: number) => {
      expect(shareOf(index)).toBeLessThan(0.15);
      world.clock.advance(SLOW_START_MS / 2);
      expect(shareOf(index)).toBeGreaterThan(0.25);
      expect(shareOf(index)).toBeLessThan(0.42);
      world.clock.advance(SLOW_START_MS / 2);
      expect(shareOf(index)).toBeGreaterThan(0.45);
    };
    return { ...world, shareOf, rises };
  }

  it('is one whose checks are good again', async () => {
    const { use, pass, bad, names, shareOf, rises, registry } = openWorld();
    use(snapshotOf([A, B]));
    await pass(1000);
    expect(shareOf(1)).toBeGreaterThan(0.45);
    bad.add(B);
    await pass(7000);
    expect(shareOf(1)).toBe(0);
    bad.clear();
    while (names()[1] !== 'healthy') await pass(50);
    expect(await registry.metrics()).toContain('gateway_upstreams_in_slow_start 1');
    rises(1);
    expect(await registry.metrics()).toContain('gateway_upstreams_in_slow_start 0');
  });

  it('is one whose ejection has ended', async () => {
    const { use, pass, names, balancer, rises } = openWorld();
    use(snapshotOf([A, B]));
    await pass(1000);
    for (let count = 0; count < CONSECUTIVE_FAILURES; count += 1) {
      balancer().ended(1, balancer().begin(1), 'bad');
    }
    await pass(EJECTION_MS + 100);
    expect(names()).toEqual(['healthy', 'half_open']);
    balancer().ended(1, balancer().begin(1), 'good');
    expect(names()).toEqual(['healthy', 'healthy']);
    rises(1);
  });

  it('is one that is added to a running service, also across further configurations', () => {
    const { use, clock, shareOf, rises } = openWorld();
    use(snapshotOf([A]));
    clock.advance(60_000);
    use(snapshotOf([A, B], { version: 2 }));
    expect(shareOf(1)).toBeLessThan(0.15);
    use(snapshotOf([A, B], { version: 3, timeout_ms: 6000 }));
    rises(1);
  });

  it('is not one of a service that has just been added', () => {
    const { use, shareOf } = openWorld();
    use(snapshotOf([A, B]));
    expect(shareOf(1)).toBeGreaterThan(0.45);
  });

  it('leaves it when it fails again, so that it has its whole weight while all are tried', async () => {
    const { use, pass, bad, names, shareOf } = openWorld();
    use(snapshotOf([A, B], { check: { interval_ms: 1000, timeout_ms: 500 } }));
    await pass(1000);
    bad.add(B);
    await pass(3000);
    bad.clear();
    while (names()[1] !== 'healthy') await pass(50);
    expect(shareOf(1)).toBeLessThan(0.15);
    [A, B].forEach((url) => bad.add(url));
    await pass(3000);
    expect(names()).toEqual(['unhealthy', 'unhealthy']);
    expect(shareOf(1)).toBeGreaterThan(0.45);
  });

  it('gets all requests while no other upstream is healthy', async () => {
    const { use, pass, bad, names, shareOf } = openWorld();
    use(snapshotOf([A, B]));
    await pass(1000);
    [A, B].forEach((url) => bad.add(url));
    await pass(8000);
    bad.delete(B);
    while (names()[1] !== 'healthy') await pass(50);
    expect(shareOf(1)).toBe(1);
    bad.delete(A);
    while (names()[0] !== 'healthy') await pass(50);
    expect(shareOf(0)).toBeGreaterThan(0);
  });

  it('gets all requests if it is the only upstream', () => {
    const { use, shareOf } = openWorld();
    use(snapshotOf([A]));
    use(snapshotOf([B], { version: 2 }));
    expect(shareOf(0)).toBe(1);
  });
});
