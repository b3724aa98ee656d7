import { describe, expect, it } from '@jest/globals';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import { manualClock } from '@gateway/shared/testing/manual-clock';
import { pino } from 'pino';
import { LeasedQuotaStore } from './leased-quota-store.ts';
import type { LedgerEntry } from './ledger.ts';
import { ModelLedger } from './testing/model-ledger.ts';

const WINDOW_MS = 60_000;
/** A quarter into a window. */
const WINDOW = 31_000_000;
const START_MS = WINDOW_MS * WINDOW + 15_000;
const ERROR_MS = 20;
const KEPT_MS = 3000;

function setUp({ limit = 1000, nodes = 1, timeKnown = true } = {}) {
  const clock = manualClock(START_MS);
  const ledger = new ModelLedger();
  let leases = 0;
  const open = (node: number) =>
    new LeasedQuotaStore({
      ledger: ledger.from(node),
      clock,
      log: pino({ level: 'silent' }),
      maxCounters: 10,
      liveNodes: () => nodes,
      serverTimeOffsetMs: () => (timeKnown ? 0 : undefined),
      serverTimeErrorMs: () => ERROR_MS,
      newLeaseId: () => `lease ${(leases += 1)}`,
    });
  const store = open(0);
  const policy = { key: 'production/orders', limit, windowMs: WINDOW_MS, per: 'route' as const };
  const take = (from = store, of = policy) => from.take(of, '', clock.nowMs());
  /** Answers every call until none is under way. */
  const settle = async () => {
    do {
      ledger.settle(0, 'answered');
      await idle();
    } while (ledger.pending > 0);
  };
  const settled = async (taken: FixedWindow | Promise<FixedWindow>) => {
    await settle();
    return taken;
  };
  return { clock, ledger, open, store, policy, take, settle, settled };
}

const idle = () => new Promise((resolve) => setImmediate(resolve));
const newest = (ledger: ModelLedger): LedgerEntry | undefined => ledger.written.at(-1);

describe('quotas that are leased', () => {
  it('are asked for so early that nobody waits where the ledger is far away', async () => {
    const { take, ledger, store, clock } = setUp({ limit: 100_000 });
    const ROUND_MS = 400;
    let askedAtMs = Infinity;
    let waitedAtFirst = 0;
    for (let ms = 0; ms < 12_000; ms += 1) {
      void take();
      clock.advance(1);
      if (ledger.pending === 0) askedAtMs = Infinity;
      else askedAtMs = Math.min(askedAtMs, ms);
      if (ms - askedAtMs >= ROUND_MS) {
        ledger.settle(0, 'answered');
        askedAtMs = Infinity;
        await idle();
      }
      if (ms === 2500) waitedAtFirst = store.counts.leaseWaits;
    }
    expect(waitedAtFirst).toBeGreaterThan(0);
    expect(store.counts.leaseWaits).toBe(waitedAtFirst);
    expect(store.counts.shared).toBe(0);
  });

  it('are granted at once, and without a word to the ledger, while a lease is at hand', async () => {
    const { take, settled, ledger } = setUp();
    await settled(take());
    for (let taken = 0; taken < 5; taken += 1) expect(take()).toMatchObject({ granted: true });
    expect(ledger.pending).toBe(0);
  });

  it('are refused at once, and without a word to the ledger, when it has said that all is granted', async () => {
    const { take, settled, ledger, open, clock } = setUp({ limit: 1 });
    const other = open(1);
    await settled(take());
    expect(await settled(take(other))).toMatchObject({ granted: false, remaining: 0 });
    for (let taken = 0; taken < 5; taken += 1) {
      expect(take(other)).toMatchObject({ granted: false, remaining: 0, resetSeconds: 45 });
    }
    expect(ledger.pending).toBe(0);
    clock.advance(WINDOW_MS);
    expect(await settled(take(other))).toMatchObject({ granted: true });
  });

  it('wait for the one refill under way, however many ask', async () => {
    const { take, settle, ledger } = setUp();
    const taken = Array.from({ length: 200 }, () => Promise.resolve(take()));
    expect(ledger.pending).toBe(1);
    await settle();
    const granted = (await Promise.all(taken)).filter((window) => window.granted);
    expect(granted).toHaveLength(200);
    expect(ledger.written.length).toBeLessThan(5);
  });

  it('are refilled before the lease is used up, so that nobody waits', async () => {
    const { take, settled, settle } = setUp({ limit: 10_000 });
    await settled(take());
    for (let taken = 0; taken < 500; taken += 1) {
      expect(take()).toMatchObject({ granted: true });
      await settle();
    }
  });

  it('are taken by one data plane to a hundredth at most while it shows no need', async () => {
    const { take, settled, ledger } = setUp({ limit: 10_000, nodes: 4 });
    await settled(take());
    expect(newest(ledger)?.granted).toBeLessThanOrEqual(10_000 / 100 / 4 + 1);
  });

  it('are down to one at a time near the end', async () => {
    const { take, settled, ledger } = setUp({ limit: 8, nodes: 4 });
    for (let taken = 1; taken <= 8; taken += 1) {
      expect(await settled(take())).toMatchObject({ granted: true, remaining: 8 - taken });
      expect(newest(ledger)?.granted).toBe(taken);
    }
    expect(await settled(take())).toMatchObject({ granted: false });
  });

  it.each(['left', 'waited for too long'] as const)(
    'are not spent on those who have %s before there was an answer',
    async (why) => {
      const { take, settle, settled, clock, store, policy } = setUp({ limit: 20 });
      const deadlineMs = clock.monotonicMs() + 100;
      const askers = Array.from({ length: 10 }, () => ({ clientGone: false, deadlineMs }));
      for (const asker of askers) void store.take(policy, '', clock.nowMs(), asker);
      if (why === 'waited for too long') clock.advance(100);
      else for (const asker of askers) asker.clientGone = true;
      await settle();
      let granted = 0;
      for (let taken = 0; taken < 30; taken += 1) {
        granted += (await settled(take())).granted ? 1 : 0;
      }
      expect(granted).toBe(20);
    },
  );

  it('tell of writes that were not answered, whatever came of the round', async () => {
    const { take, ledger, store, settle } = setUp();
    void take();
    ledger.settle(0, 'answered');
    await idle();
    ledger.settle(0, 'reply_lost');
    await settle();
    expect([store.counts.unanswered, store.counts.refills]).toEqual([1, 1]);
    void take(store, {
      ...{ key: 'production/other', limit: 5 },
      windowMs: WINDOW_MS,
      per: 'route',
    });
    ledger.settle(0, 'answered');
    await idle();
    ledger.settle(0, 'lost');
    await idle();
    ledger.settle(0, 'lost');
    await idle();
    expect([store.counts.unanswered, store.counts.failedRefills]).toEqual([2, 1]);
  });

  it('are granted once where the answer to the lease was lost', async () => {
    const { take, settle, ledger } = setUp({ limit: 2 });
    const first = take();
    ledger.settle(0, 'answered');
    await idle();
    ledger.settle(0, 'reply_lost');
    await idle();
    await settle();
    expect(await first).toMatchObject({ granted: true, remaining: 1 });
    expect(newest(ledger)?.granted).toBe(1);
  });

  it('are used by nobody within the doubt about where the window ends', async () => {
    const { clock, take, settled, settle } = setUp();
    await settled(take());
    clock.advance(WINDOW_MS * 0.75 - ERROR_MS);
    const late = Promise.resolve(take());
    let answer: FixedWindow | undefined;
    void late.then((window) => (answer = window));
    await settle();
    expect(answer).toBeUndefined();
    clock.advance(ERROR_MS + 1);
    await settle();
    expect(answer).toBeUndefined();
    clock.advance(ERROR_MS + 10);
    await settle();
    expect(answer).toMatchObject({ granted: true, resetSeconds: 60 });
  });

  it('of a window that ended before the lease was answered are not granted in the next', async () => {
    const { clock, take, settled, ledger } = setUp();
    await settled(take());
    while (ledger.pending === 0) void take();
    clock.advance(WINDOW_MS);
    expect(await settled(take())).toMatchObject({ granted: true, remaining: 999 });
    expect(newest(ledger)?.window).toBe(WINDOW + 1);
  });

  it('that were granted count where the ledger comes back without its data', async () => {
    const { take, settled, ledger, open, store } = setUp({ limit: 100, nodes: 2 });
    const other = open(1);
    let granted = 0;
    const takeSome = async (from: LeasedQuotaStore, count: number) => {
      for (let taken = 0; taken < count; taken += 1) {
        if ((await settled(take(from))).granted) granted += 1;
      }
    };
    await takeSome(other, 30);
    await takeSome(store, 30);
    ledger.loseAll();
    await takeSome(store, 60);
    await takeSome(other, 60);
    expect(granted).toBe(100);
  });

  it('that are not used go back when the limit is lowered', async () => {
    const { take, settled, policy, store, ledger, settle } = setUp();
    await settled(take());
    const held = newest(ledger)?.granted ?? 0;
    expect(held).toBeGreaterThan(5);
    const lower = { ...policy, limit: 3 };
    expect(await settled(take(store, lower))).toMatchObject({ granted: true, remaining: 1 });
    expect(await settled(take(store, lower))).toMatchObject({ granted: true, remaining: 0 });
    expect(await settled(take(store, lower))).toMatchObject({ granted: false });
    await settle();
    expect(newest(ledger)?.granted).toBe(3);
  });
});

describe('quotas while the ledger does not answer', () => {
  /** The first who asks finds out. */
  async function lose({ take, ledger }: ReturnType<typeof setUp>): Promise<FixedWindow> {
    const first = take();
    ledger.settle(0, 'lost');
    await idle();
    return first;
  }

  it('are granted by share, at once, with one probe at a time', async () => {
    const world = setUp({ limit: 100, nodes: 4 });
    const { take, ledger, clock } = world;
    expect(await lose(world)).toMatchObject({ granted: true, remaining: 24 });
    for (let taken = 1; taken < 25; taken += 1) expect(take()).toMatchObject({ granted: true });
    expect(take()).toMatchObject({ granted: false, remaining: 0 });
    expect(ledger.pending).toBe(0);
    for (let probes = 0; probes < 5; probes += 1) {
      clock.advance(500);
      void take();
      expect(ledger.pending).toBe(1);
      ledger.settle(0, 'lost');
      await idle();
    }
  });

  it('are granted by share from the beginning where the ledger’s time is not known', () => {
    const { take, ledger } = setUp({ limit: 8, nodes: 4, timeKnown: false });
    const granted = Array.from({ length: 5 }, () => take()) as FixedWindow[];
    expect(granted.map((window) => window.granted)).toEqual([true, true, false, false, false]);
    expect(ledger.pending).toBe(0);
  });

  it('are not granted where nothing whole is left for each', async () => {
    expect(await lose(setUp({ limit: 3, nodes: 4 }))).toMatchObject({ granted: false });
  });

  it('are told to the ledger when it answers again, and leased only after the others had time for that', async () => {
    const world = setUp({ limit: 100, nodes: 4 });
    const { take, ledger, clock, settle, settled, store } = world;
    await lose(world);
    for (let taken = 1; taken < 25; taken += 1) void take();
    clock.advance(500);
    await settle();
    expect(newest(ledger)?.granted).toBe(25);
    expect(take()).toMatchObject({ granted: false });
    expect(store.leasing).toBe(false);
    clock.advance(KEPT_MS);
    await settle();
    expect(store.leasing).toBe(true);
    expect(await settled(take())).toMatchObject({ granted: true, remaining: 74 });
  });

  it('are all told to one that lost its data, though no share is left of any', async () => {
    const world = setUp({ limit: 100, nodes: 4 });
    const { take, ledger, clock, settle, settled, store, open, policy } = world;
    const policies = [policy, { ...policy, key: 'production/invoices' }];
    for (const one of policies) {
      for (let taken = 0; taken < 60; taken += 1) await settled(take(store, one));
    }
    for (const one of policies) {
      for (let taken = 0; taken < 40; taken += 1) {
        const later = take(store, one);
        ledger.settle(0, 'lost');
        await later;
      }
    }
    expect(store.leasing).toBe(false);
    ledger.loseAll();
    clock.advance(500);
    await settle();
    clock.advance(KEPT_MS);
    await settle();
    for (const one of policies) {
      const { granted, remaining } = await settled(take(open(1), one));
      expect(granted).toBe(true);
      expect(remaining).toBeLessThan(40);
    }
  });

  it('are granted by share where the ledger is far ahead, which is not taken back', async () => {
    const { take, ledger, policy, open, settled, clock } = setUp({ limit: 100, nodes: 2 });
    const ahead = open(1);
    const future = ahead.take(policy, '', clock.nowMs() + 10 * WINDOW_MS);
    await settled(future);
    const window = await settled(take());
    expect(window).toMatchObject({ granted: true, remaining: 49 });
    expect(newest(ledger)?.window).toBe(WINDOW + 10);
  });
});
