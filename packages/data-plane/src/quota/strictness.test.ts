import { describe, expect, it } from '@jest/globals';
import type { Clock } from '@gateway/shared/clock';
import { manualClock } from '@gateway/shared/test/manual-clock';
import fc from 'fast-check';
import { pino } from 'pino';
import { LeasedQuotaStore } from './leased-quota-store.ts';
import { ModelLedger, type Fate } from '../../test/quota/model-ledger.ts';

const WINDOW_MS = 1000;
const START_MS = WINDOW_MS * 1_900_000_000 + 400;
/** With this many nodes no data plane has a share, so only former leases are granted while the store is unreachable. */
const NO_SHARE = 1_000_000;
const log = pino({ level: 'silent' });

interface World {
  readonly nodes: number;
  /** Whether each node grants its share while the store is unreachable. */
  readonly shares: boolean;
  readonly limit: number;
  /** The error of each node's estimate of the time of the ledger, ms; at most `MAX_SKEW_MS`. */
  readonly skewsMs: readonly number[];
  readonly steps: readonly Step[];
}

type Step =
  | { readonly kind: 'take'; readonly node: number; readonly count: number }
  | { readonly kind: 'settle'; readonly index: number; readonly fate: Fate }
  | { readonly kind: 'settle_all' }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'late' }
  | { readonly kind: 'limit'; readonly limit: number }
  | { readonly kind: 'restart'; readonly node: number };

/** The error that the nodes allow for. */
const MAX_SKEW_MS = 20;

const fate = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Fate>('answered') },
  { weight: 3, arbitrary: fc.constantFrom<Fate>('reply_lost', 'lost', 'late', 'refused') },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('take'), node: fc.nat(4), count: fc.nat(9) }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('settle'), index: fc.nat(9), fate }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'settle_all' as const }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance'), ms: fc.nat(300) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'late' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('limit'), limit: fc.integer({ min: 1, max: 30 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart'), node: fc.nat(4) }) },
);

const world = (shares: boolean, steps = step): fc.Arbitrary<World> =>
  fc
    .record({
      nodes: fc.integer({ min: 1, max: 5 }),
      limit: fc.integer({ min: 1, max: 30 }),
      skewsMs: fc.array(fc.integer({ min: -MAX_SKEW_MS, max: MAX_SKEW_MS }), {
        minLength: 5,
        maxLength: 5,
      }),
      steps: fc.array(steps, { maxLength: 120, size: 'max' }),
    })
    .map((made) => ({ ...made, shares }));

/** Resolves when all pending promises have continued. Work of the nodes between their calls takes no time. */
const idle = () => new Promise((resolve) => setImmediate(resolve));

/** Runs the steps. Returns the grants in each window by the true time of the ledger, and the largest limit of each. */
async function play({ nodes, shares, limit, skewsMs, steps }: World) {
  const clock = manualClock(START_MS);
  const ledger = new ModelLedger();
  const granted = new Map<number, number>();
  const limits = new Map<number, number>();
  let policy = { key: 'production/orders', limit, windowMs: WINDOW_MS, per: 'route' as const };
  let leases = 0;
  const windowNow = () => Math.floor(clock.nowMs() / WINDOW_MS);
  const open = (node: number) => {
    const skewed: Clock = { ...clock, nowMs: () => clock.nowMs() + (skewsMs[node] ?? 0) };
    const store: LeasedQuotaStore = new LeasedQuotaStore({
      ledger: ledger.from(node),
      clock: skewed,
      log,
      maxCounters: 10,
      liveNodes: () => (shares || store.leasing ? nodes : NO_SHARE),
      serverTimeOffsetMs: () => 0,
      serverTimeErrorMs: () => MAX_SKEW_MS,
      newLeaseId: () => `lease ${(leases += 1)}`,
    });
    return { store, clock: skewed, alive: true };
  };
  const running = Array.from({ length: nodes }, (_, node) => open(node));
  const take = async (node: (typeof running)[number]) => {
    const window = await node.store.take(policy, '', node.clock.nowMs());
    if (window.remaining < 0) throw new Error('a negative number is left');
    // A dead node answers no request, although its promises still settle here.
    if (!node.alive || !window.granted) return;
    const now = windowNow();
    granted.set(now, (granted.get(now) ?? 0) + 1);
    limits.set(now, Math.max(limits.get(now) ?? 0, window.limit));
  };

  for (const one of steps) {
    if (one.kind === 'take') {
      const node = running[one.node % nodes];
      for (let count = 0; node !== undefined && count < one.count; count += 1) void take(node);
    } else if (one.kind === 'settle') ledger.settle(one.index, one.fate);
    else if (one.kind === 'settle_all') {
      for (let rounds = 0; rounds < 50 && ledger.pending > 0; rounds += 1) {
        ledger.settle(0, 'answered');
        await idle();
      }
    } else if (one.kind === 'late') ledger.arriveLate();
    else if (one.kind === 'limit') policy = { ...policy, limit: one.limit };
    else if (one.kind === 'restart') {
      const node = one.node % nodes;
      ledger.kill(node);
      const dead = running[node];
      if (dead !== undefined) dead.alive = false;
      running[node] = open(node);
    } else {
      // In small parts, so that no node grants by an outdated time.
      for (let leftMs = one.ms; leftMs > 0; leftMs -= 5) {
        clock.advance(Math.min(5, leftMs));
        await idle();
      }
    }
    await idle();
  }
  return { granted, limits, ledger };
}

describe('quotas over several data planes', () => {
  it('never grant more than the limit in any window, with any lost or late messages, dead nodes and wrong clocks', async () => {
    await fc.assert(
      fc.asyncProperty(world(false), async (one) => {
        const { granted, limits, ledger } = await play(one);
        for (const [window, count] of granted) {
          expect(count).toBeLessThanOrEqual(limits.get(window) ?? 0);
        }
        const largest = Math.max(
          one.limit,
          ...one.steps.map((step) => (step.kind === 'limit' ? step.limit : 0)),
        );
        let newest = 0;
        for (const entry of ledger.written) {
          expect(entry.granted).toBeLessThanOrEqual(largest);
          expect(entry.window).toBeGreaterThanOrEqual(newest);
          newest = entry.window;
        }
      }),
      { numRuns: 300 },
    );
  });

  it('never grant more than the limit while the store is unreachable', async () => {
    const away = fc.oneof(
      fc.record({ kind: fc.constant('take'), node: fc.nat(4), count: fc.nat(20) }),
      fc.record({
        kind: fc.constant('settle'),
        index: fc.nat(9),
        fate: fc.constantFrom('lost', 'refused'),
      }),
      fc.record({ kind: fc.constant('advance'), ms: fc.nat(300) }),
    ) as fc.Arbitrary<Step>;
    await fc.assert(
      fc.asyncProperty(world(true, away), async (one) => {
        const { granted } = await play(one);
        for (const count of granted.values()) expect(count).toBeLessThanOrEqual(one.limit);
      }),
      { numRuns: 200 },
    );
  });
});
