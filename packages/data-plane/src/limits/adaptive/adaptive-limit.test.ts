import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  OverloadSimulation,
  type SimulatedLimit,
  type SimulationOptions,
  type SimulatedSecond,
} from '../../../test/overload-simulation.ts';
import { AdaptiveLimit, INITIAL_LIMIT } from './adaptive-limit.ts';

type WorkMs = (nowMs: number, random: () => number) => number;

const WORKERS = 20;
const WORK_MS = 20;
/** Of the upstream, in requests per second. */
const CAPACITY = (WORKERS * 1000) / WORK_MS;

/** A page or a calculation: nearly always the same time. */
const even: WorkMs = (_now, random) => WORK_MS * (0.8 + 0.4 * random());
/** Exponential: many requests take far less than the mean, some take five times as long. */
const uneven: WorkMs = (_now, random) => -WORK_MS * Math.log(1 - random());
/** A cache: one request in ten takes 164 ms, the others 4 ms. */
const cached: WorkMs = (_now, random) => (random() < 0.1 ? 164 : 4);

const NO_LIMIT: SimulatedLimit = {
  limit: Infinity,
  begin: () => true,
  end: () => undefined,
  abandon: () => undefined,
};

/** Numbers in [0, 1), the same in each run (the generator of Park and Miller). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state - 1) / 2_147_483_646;
  };
}

interface World {
  readonly load: number | ((nowMs: number) => number);
  readonly workMs: WorkMs;
  readonly workers: (nowMs: number) => number;
  readonly planes: number;
  readonly deadlineMs: number;
  readonly seed: number;
  readonly limits: SimulationOptions['limits'];
}

/** An upstream with 20 workers and 20 ms of work for each request, under a load in parts of its capacity. */
function open(world: Partial<World>): OverloadSimulation {
  const { load = 3, workMs = even, workers = () => WORKERS, planes = 1, seed = 1 } = world;
  const limits = (nowMs: () => number) =>
    Array.from({ length: planes }, (_none, plane) => {
      // The clocks of the data planes differ by some ms.
      return new AdaptiveLimit(() => seed * 777 + plane * 10 + nowMs());
    });
  return new OverloadSimulation({
    limits: world.limits ?? limits,
    random: seededRandom(seed),
    workers,
    workMs,
    requestsPerSecond: (nowMs) => CAPACITY * (typeof load === 'number' ? load : load(nowMs)),
    deadlineMs: world.deadlineMs ?? 1000,
  });
}

interface Figures {
  /** Responses in time, in parts of the capacity. */
  readonly goodput: number;
  readonly refused: number;
  readonly p99Ms: number;
  readonly lowestLimit: number;
}

function figuresOf(seconds: readonly SimulatedSecond[]): Figures {
  const latenciesMs = seconds.flatMap((second) => second.latenciesMs).sort((a, b) => a - b);
  return {
    goodput: latenciesMs.length / seconds.length / CAPACITY,
    refused: seconds.reduce((sum, { refused }) => sum + refused, 0),
    p99Ms: latenciesMs[Math.floor(latenciesMs.length * 0.99)] ?? Infinity,
    lowestLimit: Math.min(...seconds.map(({ limit }) => limit)),
  };
}

/** The figures of a world after it has run for a while. */
function steady(world: Partial<World>, seconds = 12): Figures {
  const simulation = open(world);
  simulation.run(world.planes === undefined ? 3 : 25);
  return figuresOf(simulation.run(seconds));
}

describe('an adaptive limit under three times the capacity', () => {
  const KINDS = { even, uneven, cached };

  it.each([
    ['even', 1],
    ['uneven', 1],
    ['cached', 1],
    ['even', 4],
    ['uneven', 4],
    ['even', 10],
    ['uneven', 10],
  ] as const)('keeps goodput and latency: %s work, data planes: %i', (kind, planes) => {
    const workMs = KINDS[kind];
    const unloaded = steady({ load: 0.1, workMs });
    for (const seed of [1, 2]) {
      const { goodput, p99Ms } = steady({ workMs, planes, seed });
      expect(goodput).toBeGreaterThan(0.9);
      expect(p99Ms).toBeLessThan(3 * unloaded.p99Ms);
    }
  });

  it('keeps them also if callers leave before the upstream would respond', () => {
    const simulation = open({ deadlineMs: 80, load: (nowMs) => (nowMs < 5000 ? 0.9 : 3) });
    simulation.run(10);
    expect(figuresOf(simulation.run(20)).goodput).toBeGreaterThan(0.9);
  });

  it('is needed: without it all callers have left before their responses', () => {
    const { goodput } = steady({ limits: () => [NO_LIMIT] }, 10);
    expect(goodput).toBeLessThan(0.01);
  });

  it.each([
    { workers: 1, workMs: 10 },
    { workers: 4, workMs: 50 },
    { workers: 100, workMs: 200 },
    { workers: 200, workMs: 1000 },
  ])('finds the limit of upstreams of other sizes: %j', ({ workers, workMs }) => {
    const perSecond = (workers * 1000) / workMs;
    const simulation = open({
      workers: () => workers,
      workMs: (_now, random) => workMs * (0.8 + 0.4 * random()),
      load: (3 * perSecond) / CAPACITY,
      deadlineMs: 100_000,
    });
    simulation.run(60);
    const { goodput, p99Ms } = figuresOf(simulation.run(60));
    expect(goodput).toBeGreaterThan((0.9 * perSecond) / CAPACITY);
    // A single worker is idle between two requests unless one waits.
    expect(p99Ms).toBeLessThan(workers === 1 ? 4.5 * workMs : 3 * workMs);
  });
});

describe('an adaptive limit', () => {
  it.each([
    ['little load', { load: 0.02, workMs: uneven }],
    ['half of the capacity', { load: 0.5, workMs: uneven }],
    ['four fifths of the capacity', { load: 0.8, workMs: uneven }],
    ['a mix of fast and slow requests', { load: 0.5, workMs: cached }],
  ])('refuses nothing and falls little or not under %s', (_name, world) => {
    for (const seed of [1, 2, 3]) {
      const figures = figuresOf(open({ ...world, seed }).run(60));
      expect(figures).toMatchObject({ refused: 0 });
      expect(figures.lowestLimit).toBeGreaterThan(INITIAL_LIMIT * 0.8);
    }
  });

  it('follows a capacity that falls to a quarter and returns', () => {
    const workers = (nowMs: number) => (nowMs > 20_000 && nowMs < 40_000 ? 5 : WORKERS);
    const simulation = open({ workers });
    simulation.run(21);
    const fallen = figuresOf(simulation.run(19));
    expect(fallen.goodput).toBeGreaterThan(0.9 / 4);
    expect(fallen.p99Ms).toBeLessThan(3 * WORK_MS * 1.2);
    simulation.run(1);
    expect(figuresOf(simulation.run(10)).goodput).toBeGreaterThan(0.9);
  });

  it('learns within the time between two probes that the upstream became slower by itself', () => {
    const workMs: WorkMs = (nowMs, random) => even(nowMs, random) * (nowMs > 15_000 ? 3 : 1);
    const simulation = open({ workMs });
    simulation.run(15);
    // Until then it takes the latency for that of a queue, but does not fall to the least limit.
    expect(figuresOf(simulation.run(11)).goodput).toBeGreaterThan(0.1);
    expect(figuresOf(simulation.run(20)).goodput).toBeGreaterThan(0.9 / 3);
  });

  it('learns at low load that the upstream became slower, and hardly refuses meanwhile', () => {
    const workMs: WorkMs = (nowMs, random) => even(nowMs, random) * (nowMs > 15_000 ? 3 : 1);
    const simulation = open({ workMs, load: 0.15 });
    const { refused } = figuresOf(simulation.run(40));
    expect(refused).toBeLessThan(0.02 * 40 * 0.15 * CAPACITY);
    expect(figuresOf(simulation.run(60))).toMatchObject({ refused: 0 });
  });

  it('learns that the upstream became faster', () => {
    const workMs: WorkMs = (nowMs, random) => even(nowMs, random) / (nowMs > 15_000 ? 4 : 1);
    const simulation = open({ workMs, load: 12 });
    simulation.run(30);
    expect(figuresOf(simulation.run(10)).goodput).toBeGreaterThan(0.9 * 4);
  });

  it('refuses of a burst no more than the upstream cannot serve in time', () => {
    const load = (nowMs: number) => (nowMs % 2000 < 200 ? 3 : 0.4);
    const simulation = open({ load });
    simulation.run(5);
    const { refused, p99Ms } = figuresOf(simulation.run(40));
    const excess = 20 * 0.2 * 2 * CAPACITY;
    expect(refused).toBeLessThan(excess * 1.1);
    expect(p99Ms).toBeLessThan(4 * WORK_MS);
  });

  it('is never passed, and never below one, whatever happens', () => {
    const event = fc.record({
      kind: fc.constantFrom('begin', 'begin', 'end', 'fail', 'abandon'),
      latencyMs: fc.double({ min: 0, max: 60_000, noNaN: true }),
      passedMs: fc.constantFrom(0, 1, 100, 20_000),
    });
    fc.assert(
      fc.property(fc.array(event, { minLength: 200, maxLength: 1000 }), (events) => {
        let nowMs = 0;
        let waiting = 0;
        const limit = new AdaptiveLimit(() => nowMs);
        for (const { kind, latencyMs, passedMs } of events) {
          nowMs += passedMs;
          if (kind === 'begin') {
            const isFree = waiting < limit.limit;
            expect(limit.begin()).toBe(isFree);
            if (isFree) waiting += 1;
          } else if (waiting > 0) {
            waiting -= 1;
            if (kind === 'abandon') limit.abandon(latencyMs, nowMs);
            else limit.end(kind === 'end' ? latencyMs : undefined, nowMs);
          }
          expect(limit.limit).toBeGreaterThanOrEqual(1);
          expect(Number.isSafeInteger(limit.limit)).toBe(true);
        }
      }),
      { numRuns: 30 },
    );
  });
});
