import { describe, expect, it } from '@jest/globals';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { QuotaDecision } from './quota-store.ts';
import { idle, newest, openModelStore, WINDOW, WINDOW_MS } from '../../test/quota/model-store.ts';

/** Longer than the time from an answer of the ledger until leases are taken again. */
const KEPT_MS = 3000;
/** How long requests without a share wait for a ledger that is connected. */
const SLOW_MS = 2000;

describe('quotas while the ledger does not answer', () => {
  /** The first request finds out that the ledger does not answer. */
  async function lose({ take, next }: ReturnType<typeof openModelStore>): Promise<FixedWindow> {
    const first = take();
    await next('lost');
    return first;
  }

  it('are granted from the share, at once, with one probe at a time', async () => {
    const world = openModelStore({ limit: 100, nodes: 4, shares: true });
    const { take, ledger, clock, next } = world;
    expect(await lose(world)).toMatchObject({ granted: true, remaining: 24 });
    for (let taken = 1; taken < 25; taken += 1) expect(take()).toMatchObject({ granted: true });
    expect(take()).toMatchObject({ granted: false, remaining: 0 });
    expect(ledger.pending).toBe(0);
    for (let probes = 0; probes < 5; probes += 1) {
      clock.advance(500);
      void take();
      expect(ledger.pending).toBe(1);
      await next('lost');
    }
  });

  it('are granted from the share from the start if the time of the ledger is unknown', () => {
    const { take, ledger } = openModelStore({ limit: 8, nodes: 4, timeKnown: false, shares: true });
    const granted = Array.from({ length: 5 }, () => take()) as FixedWindow[];
    expect(granted.map((window) => window.granted)).toEqual([true, true, false, false, false]);
    expect(ledger.pending).toBe(0);
  });

  it('are not granted if the share of each data plane is less than one', async () => {
    const world = openModelStore({ limit: 3, nodes: 4, shares: true });
    const lost = lose(world);
    await idle();
    world.clock.advance(SLOW_MS);
    expect(await lost).toMatchObject({ granted: false, unavailable: true });
  });

  it('are stored in the ledger when it answers again, and leased at once, but not what is reserved for others', async () => {
    const world = openModelStore({ limit: 100, nodes: 4, shares: true });
    const { take, ledger, clock, settle, settled, store, open } = world;
    const other = open(1);
    await lose(world);
    for (let taken = 1; taken < 25; taken += 1) void take();
    const others = Array.from({ length: 10 }, async () => take(other));
    ledger.settle(0, 'lost');
    await Promise.all(others);
    clock.advance(500);
    await settle();
    expect(store.leasing).toBe(true);
    expect(newest(ledger)?.granted).toBe(35);
    let granted = 0;
    while ((await settled(take())).granted) granted += 1;
    expect(granted).toBeGreaterThanOrEqual(50);
    expect(granted).toBeLessThanOrEqual(65);
  });

  it('are all stored in a ledger that lost its data, even if no share is left', async () => {
    const world = openModelStore({ limit: 100, nodes: 4, shares: true });
    const { take, ledger, clock, settle, settled, store, open, policy } = world;
    const policies = [policy, { ...policy, key: 'production/invoices' }];
    for (const one of policies) {
      for (let taken = 0; taken < 15; taken += 1) await settled(take(store, one));
    }
    for (const one of policies) {
      for (let taken = 0; taken < 20; taken += 1) {
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
      expect(remaining).toBeLessThan(75);
    }
  });

  it('are refused, as unavailable, once the lease is used up, if the route says so', async () => {
    const { take, policy, store, ledger, settle, settled } = openModelStore({ shares: true });
    const refusing = { ...policy, refuseWithoutStore: true };
    expect(await settled(take(store, refusing))).toMatchObject({ granted: true });
    ledger.cutOff(0);
    const answers: QuotaDecision[] = [];
    for (let taken = 0; taken < 20; taken += 1) answers.push(await take(store, refusing));
    expect(answers[0]).toMatchObject({ granted: true });
    expect(answers.at(-1)).toMatchObject({ granted: false, unavailable: true });
    ledger.reconnect(0);
    await settle();
    expect(await take(store, policy)).toMatchObject({ granted: true });
  });

  it('are stored in the ledger although more quotas are used meanwhile than are counted at one time', async () => {
    const world = openModelStore({ limit: 100, nodes: 2, shares: true });
    const { take, store, policy, ledger, clock, settle, settled, open } = world;
    ledger.cutOff(0);
    for (let taken = 0; taken < 50; taken += 1) expect(take()).toMatchObject({ granted: true });
    for (let others = 0; others < 40; others += 1) {
      const refusing = { ...policy, key: `production/${others}`, refuseWithoutStore: true };
      expect(take(store, refusing)).toMatchObject({ granted: false });
    }
    expect(store.dropped).toBeGreaterThan(0);
    expect(store.hasDebts()).toBe(true);
    ledger.reconnect(0);
    clock.advance(500);
    await settle();
    const other = open(1);
    let granted = 0;
    while ((await settled(take(other))).granted) granted += 1;
    expect(granted).toBe(50);
  });

  it('are forgotten if all that are counted have granted something, so that memory is bounded', () => {
    const { take, store, policy, ledger } = openModelStore({ limit: 100, nodes: 2, shares: true });
    ledger.cutOff(0);
    for (let others = 0; others < 40; others += 1) {
      const other = { ...policy, key: `production/${others}` };
      expect(take(store, other)).toMatchObject({ granted: true });
    }
    expect(store.size).toBeLessThanOrEqual(13);
  });

  it('are granted from the share if the ledger is at a later window', async () => {
    const { take, ledger, policy, open, settled, clock } = openModelStore({
      limit: 100,
      nodes: 2,
      shares: true,
    });
    const ahead = open(1);
    const future = ahead.take(policy, '', clock.nowMs() + 10 * WINDOW_MS);
    await settled(future);
    const window = await settled(take());
    expect(window).toMatchObject({ granted: true, remaining: 49 });
    expect(newest(ledger)?.window).toBe(WINDOW + 10);
  });
});
