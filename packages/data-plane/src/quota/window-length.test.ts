import { describe, expect, it } from '@jest/globals';
import type { QuotaDecision } from './quota-store.ts';
import { openModelStore, WINDOW_MS } from '../../test/quota/model-store.ts';

const LIMIT = 100;
/** Of each of the two data planes. */
const PART = 50;

describe('a quota whose window gets another length and then the former one again', () => {
  function openWorld() {
    const world = openModelStore({ limit: LIMIT, nodes: 2, shares: true });
    const longer = { ...world.policy, windowMs: 60 * WINDOW_MS };
    const takeAll = async (policy = world.policy) => {
      const taken = Array.from({ length: LIMIT }, async () => world.take(world.store, policy));
      const decisions: QuotaDecision[] = await Promise.all(taken);
      return decisions.filter(({ granted }) => granted).length;
    };
    const lose = async () => {
      const first = world.take();
      await world.next('lost');
      return first;
    };
    return { ...world, longer, takeAll, lose };
  }

  it('has not got its part of the window again', async () => {
    const { lose, takeAll, longer } = openWorld();
    expect(await lose()).toMatchObject({ granted: true });
    expect(await takeAll()).toBe(PART - 1);
    expect(await takeAll(longer)).toBe(PART);
    expect(await takeAll()).toBe(0);
    expect(await takeAll(longer)).toBe(0);
  });

  it('is stored with what it granted while the ledger was away', async () => {
    const { lose, takeAll, longer, store, ledger, clock, settle } = openWorld();
    await lose();
    await takeAll();
    await takeAll(longer);
    clock.advance(500);
    await settle();
    expect(store.hasDebts()).toBe(false);
    expect(ledger.written.map(({ granted, window_ms }) => [window_ms, granted])).toEqual(
      expect.arrayContaining([
        [WINDOW_MS, PART],
        [60 * WINDOW_MS, PART],
      ]),
    );
  });

  it('has the lease that it had', async () => {
    const { take, settled, longer, store } = openWorld();
    const first = await settled(take());
    await settled(take(store, longer));
    expect(take()).toMatchObject({ granted: true, remaining: first.remaining - 1 });
  });

  it('is described by the count of its own length', async () => {
    const { take, settle, settled, longer, store, open, clock } = openWorld();
    await settled(take());
    await settled(take(open(1), longer));
    const view = store.view(longer, '', clock.nowMs());
    await settle();
    expect((await view).grantedToAll).toBeGreaterThan(0);
  });
});
