import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { LeasedQuotaStore } from './leased-quota-store.ts';
import {
  ERROR_MS,
  idle,
  newest,
  openModelStore,
  WINDOW,
  WINDOW_MS,
} from '../../test/quota/model-store.ts';

describe('leased quotas', () => {
  it('are refilled early enough that no request waits for a slow ledger', async () => {
    const { take, ledger, store, clock } = openModelStore({ limit: 100_000 });
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
    expect(store.counts.reserveTakes).toBe(0);
  });

  it('are larger and refilled earlier after conflicts with other data planes', async () => {
    const { take, ledger, open, settle, clock } = openModelStore({ limit: 100_000, nodes: 2 });
    const takeFor = (ms: number) => {
      for (let passed = 0; passed < ms; passed += 1) {
        void take();
        clock.advance(1);
      }
    };
    const nextLease = async (whilePending: () => Promise<void>) => {
      const before = newest(ledger)?.granted ?? 0;
      while (ledger.pending === 0) takeFor(1);
      await whilePending();
      await settle();
      return (newest(ledger)?.granted ?? 0) - before;
    };
    for (let lease = 0; lease < 4; lease += 1) await nextLease(() => Promise.resolve());
    const usual = await nextLease(() => Promise.resolve());
    await nextLease(async () => {
      void take(open(1));
      for (const call of ['read', 'write']) {
        expect([call, ledger.pending]).toEqual([call, 2]);
        ledger.settle(1, 'answered');
        await idle();
      }
      takeFor(900);
    });
    expect(await nextLease(() => Promise.resolve())).toBeGreaterThan(2 * usual);
  });

  it('are granted at once and without the ledger while there is a lease', async () => {
    const { take, settled, ledger } = openModelStore();
    await settled(take());
    for (let taken = 0; taken < 5; taken += 1) expect(take()).toMatchObject({ granted: true });
    expect(ledger.pending).toBe(0);
  });

  it('are refused at once and without the ledger after all was granted', async () => {
    const { take, settled, ledger, open, clock } = openModelStore({ limit: 1 });
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

  it('wait for one refill, however many requests there are', async () => {
    const { take, settle, ledger } = openModelStore();
    const taken = Array.from({ length: 200 }, () => Promise.resolve(take()));
    expect(ledger.pending).toBe(1);
    await settle();
    const granted = (await Promise.all(taken)).filter((window) => window.granted);
    expect(granted).toHaveLength(200);
    expect(ledger.written.length).toBeLessThan(5);
  });

  it('are refilled before the lease is used up, so that no request waits', async () => {
    const { take, settled, settle } = openModelStore({ limit: 10_000 });
    await settled(take());
    for (let taken = 0; taken < 500; taken += 1) {
      expect(take()).toMatchObject({ granted: true });
      await settle();
    }
  });

  it('are leased by one data plane to a hundredth at most while it has no traffic', async () => {
    const { take, settled, ledger } = openModelStore({ limit: 10_000, nodes: 4 });
    await settled(take());
    expect(newest(ledger)?.granted).toBeLessThanOrEqual(10_000 / 100 / 4 + 1);
  });

  it('are leased one at a time near the end', async () => {
    const { take, settled, ledger } = openModelStore({ limit: 8, nodes: 4 });
    for (let taken = 1; taken <= 8; taken += 1) {
      expect(await settled(take())).toMatchObject({ granted: true, remaining: 8 - taken });
      expect(newest(ledger)?.granted).toBe(taken);
    }
    expect(await settled(take())).toMatchObject({ granted: false });
  });

  it('are granted once if the answer to the lease was lost', async () => {
    const { take, next, settle, ledger } = openModelStore({ limit: 2 });
    const first = take();
    await next('answered');
    await next('reply_lost');
    await settle();
    expect(await first).toMatchObject({ granted: true, remaining: 1 });
    expect(newest(ledger)?.granted).toBe(1);
  });

  it('are not used while the end of the window is uncertain', async () => {
    const { clock, take, settled, settle } = openModelStore();
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

  it('of a window that ended before the answer are not granted in the next one', async () => {
    const { clock, take, settled, ledger } = openModelStore();
    await settled(take());
    while (ledger.pending === 0) void take();
    clock.advance(WINDOW_MS);
    expect(await settled(take())).toMatchObject({ granted: true, remaining: 999 });
    expect(newest(ledger)?.window).toBe(WINDOW + 1);
  });

  it('that were granted still count if the ledger returns without its data', async () => {
    const { take, settled, ledger, open, store } = openModelStore({ limit: 100, nodes: 2 });
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

  it('that are unused are returned when the limit is lowered', async () => {
    const { take, settled, policy, store, ledger, settle } = openModelStore();
    await settled(take());
    const leased = newest(ledger)?.granted ?? 0;
    expect(leased).toBeGreaterThan(5);
    const lower = { ...policy, limit: 3 };
    expect(await settled(take(store, lower))).toMatchObject({ granted: true, remaining: 1 });
    expect(await settled(take(store, lower))).toMatchObject({ granted: true, remaining: 0 });
    expect(await settled(take(store, lower))).toMatchObject({ granted: false });
    await settle();
    expect(newest(ledger)?.granted).toBe(3);
  });

  it('that others returned after the limit was lowered are found within half a second', async () => {
    const { take, settled, policy, store, ledger, open, clock } = openModelStore({ nodes: 2 });
    const other = open(1);
    await settled(take());
    await settled(take(other));
    const lower = { ...policy, limit: 4 };
    expect(newest(ledger)?.granted).toBeGreaterThan(2 * lower.limit);
    expect(await settled(take(store, lower))).toMatchObject({ granted: false });
    expect(await settled(take(other, lower))).toMatchObject({ granted: true });
    for (let taken = 0; taken < 5; taken += 1) void take(store, lower);
    expect(ledger.pending).toBe(0);
    clock.advance(500);
    await settled(take(store, lower));
    expect(await settled(take(store, lower))).toMatchObject({ granted: true, remaining: 0 });
  });

  it('of a lowered limit are all granted in the end, however many were leased and unused', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 2, max: 4 }),
      fc.integer({ min: 250, max: 400 }),
      fc.integer({ min: -20, max: 200 }),
      async (nodes, busyMs, more) => {
        const { take, settle, policy, open, clock } = openModelStore({ limit: 10_000, nodes });
        const stores = Array.from({ length: nodes }, (_, node) => open(node));
        let granted = 0;
        const takeFor = async (ms: number, of: typeof policy) => {
          for (let passed = 0; passed < ms; passed += 1) {
            const taken = stores.map((store) => Promise.resolve(take(store, of)));
            await settle();
            for (const window of await Promise.all(taken)) if (window.granted) granted += 1;
            clock.advance(1);
          }
        };
        await takeFor(busyMs, policy);
        const before = granted;
        // Mostly less than what is leased.
        const lower = { ...policy, limit: before + more };
        await takeFor(1600, lower);
        expect(granted).toBe(Math.max(before, lower.limit));
      },
    );
    await fc.assert(property, { numRuns: 15 });
  });
});
