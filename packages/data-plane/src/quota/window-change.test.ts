import { describe, expect, it } from '@jest/globals';
import { idle, openModelStore, WINDOW, WINDOW_MS } from '../../test/quota/model-store.ts';
import type { Recall } from './recall/recall.ts';

const LIMIT = 100;
const END_MS = (WINDOW + 1) * WINDOW_MS;
/** Longer than others are asked, and than requests wait for the ledger. */
const SETTLED_MS = 3000;

function setUp(options: { readonly recall: Recall; readonly allTo?: number }) {
  const world = openModelStore({ nodes: 2, limit: LIMIT, shares: true, ...options });
  const { clock, settle, take } = world;
  let granted = 0;
  const advanceTo = (timeMs: number) => clock.advance(timeMs - clock.nowMs());
  const takeMany = (count: number, ...of: Parameters<typeof take>) => {
    for (let taken = 0; taken < count; taken += 1) {
      void Promise.resolve(take(...of)).then((answer) => (granted += answer.granted ? 1 : 0));
    }
  };
  /** All calls are answered for this time. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 10) {
      await settle();
      clock.advance(10);
    }
    await settle();
  };
  return { ...world, granted: () => granted, advanceTo, takeMany, pass };
}

describe('a data plane that asks others for what is left while the window ends', () => {
  it('grants no more than the limit in the next window if a write is not answered then', async () => {
    const needsAll = { keeps: LIMIT / 2, writes: 0, gives: 0 };
    const world = setUp({
      recall: ({ from }) => Promise.resolve(from.map((slot) => ({ slot, ...needsAll }))),
    });
    const { ledger, store, policy, settle, next, advanceTo, takeMany, pass } = world;
    const lowered = { ...policy, limit: 1 };
    takeMany(LIMIT);
    await pass(SETTLED_MS);
    expect(world.granted()).toBe(LIMIT / 2);

    // It asks again, and pauses after each question. Meanwhile the next window begins, with a lower limit.
    for (const leftMs of [26, 16]) {
      advanceTo(END_MS - leftMs);
      takeMany(1);
      await settle();
    }
    takeMany(1, store, lowered);
    advanceTo(END_MS);
    takeMany(1, store, lowered);
    advanceTo(END_MS + 4);
    await idle();
    const before = ledger.written.length;
    // The first write of the next window is stored, and neither it nor what is read after it is answered.
    while (ledger.written.length === before) {
      expect(ledger.pending).toBeGreaterThan(0);
      await next('reply_lost');
    }
    await next('lost');
    ledger.cutOff(0);
    takeMany(LIMIT);
    await pass(SETTLED_MS);
    takeMany(LIMIT, world.open(1));
    await pass(SETTLED_MS);
    const grantedNext = world.granted() - LIMIT / 2;
    expect(grantedNext).toBeGreaterThan(0);
    expect(grantedNext).toBeLessThanOrEqual(LIMIT);
  });

  it('asks no more about the window that has ended, and grants what waits from the next one', async () => {
    const answer = { slot: 1, keeps: 0, writes: 0, gives: 0 };
    const world = setUp({
      allTo: 1,
      recall: ({ window }) => Promise.resolve(window === WINDOW ? [] : [answer]),
    });
    world.advanceTo(END_MS - 300);
    world.takeMany(1);
    await world.pass(300);
    expect(world.granted()).toBe(0);
    await world.pass(200);
    expect(world.granted()).toBe(1);
  });
});
