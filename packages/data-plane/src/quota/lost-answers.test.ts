import { describe, expect, it } from '@jest/globals';
import { openModelStore, WINDOW_MS } from '../../test/quota/model-store.ts';

describe('an answer of the ledger that is too late or lost', () => {
  it.each(['left', 'waited for too long'] as const)(
    'spends no quota if the callers have %s',
    async (why) => {
      const { take, settle, settled, clock, store, policy } = openModelStore({ limit: 20 });
      const deadlineMs = clock.monotonicMs() + 100;
      const requesters = Array.from({ length: 10 }, () => ({ clientGone: false, deadlineMs }));
      for (const requester of requesters) void store.take(policy, '', clock.nowMs(), requester);
      if (why === 'waited for too long') clock.advance(100);
      else for (const requester of requesters) requester.clientGone = true;
      await settle();
      let granted = 0;
      for (let taken = 0; taken < 30; taken += 1) {
        granted += (await settled(take())).granted ? 1 : 0;
      }
      expect(granted).toBe(20);
    },
  );

  it('to a write is counted, whatever the result of the round', async () => {
    const { take, ledger, store, next, settle } = openModelStore();
    void take();
    await next('answered');
    ledger.settle(0, 'reply_lost');
    await settle();
    expect([store.counts.unanswered, store.counts.refills]).toEqual([1, 1]);
    void take(store, {
      key: 'production/other',
      limit: 5,
      windowMs: WINDOW_MS,
      per: 'route',
    });
    await next('answered');
    await next('lost');
    await next('lost');
    expect([store.counts.unanswered, store.counts.failedRefills]).toEqual([2, 1]);
  });
});
