import { describe, expect, it } from '@jest/globals';
import type { Recall } from './recall/recall.ts';
import type { QuotaDecision } from './quota-store.ts';
import { idle, openModelStore } from '../../test/quota/model-store.ts';

/** How long requests without a reserve wait for a ledger that is connected and does not answer. */
const SLOW_MS = 2000;
/** How long the others are asked if they are silent. */
const ASK_MS = 1000;

/** The answer, once there is one. */
function watch(taken: QuotaDecision | Promise<QuotaDecision>) {
  const seen: { answer: QuotaDecision | undefined } = { answer: undefined };
  void Promise.resolve(taken).then((answer) => (seen.answer = answer));
  return seen;
}

describe('a data plane that has no reserve of the window', () => {
  it('waits for a ledger that is connected and slow, and grants all that wait when it answers', async () => {
    const { take, next, settle, clock, store } = openModelStore({ nodes: 2 });
    const first = watch(take());
    await next('lost');
    expect(store.leasing).toBe(false);
    const later = Array.from({ length: 20 }, () => watch(take()));
    await idle();
    expect([first, ...later].map(({ answer }) => answer)).toEqual(Array(21).fill(undefined));
    clock.advance(500);
    await settle();
    for (const { answer } of [first, ...later]) expect(answer).toMatchObject({ granted: true });
  });

  it('waits for no more than 2 s after the first failure, and then refuses at once, as unavailable', async () => {
    const { take, next, clock } = openModelStore({ nodes: 2 });
    const first = watch(take());
    await next('lost');
    for (let waitedMs = 0; waitedMs < SLOW_MS; waitedMs += 500) {
      expect(first.answer).toBeUndefined();
      clock.advance(500);
      await next('lost');
    }
    expect(first.answer).toMatchObject({ granted: false, unavailable: true });
    expect(take()).toMatchObject({ granted: false, unavailable: true });
  });

  it('drops requests whose caller leaves meanwhile', async () => {
    const { next, settle, clock, store, policy } = openModelStore({ nodes: 2, limit: 1 });
    const requester = { clientGone: false, deadlineMs: clock.monotonicMs() + 10_000 };
    void store.take(policy, '', clock.nowMs(), requester);
    await next('lost');
    const other = watch(store.take(policy, '', clock.nowMs()));
    requester.clientGone = true;
    clock.advance(500);
    await settle();
    expect(other.answer).toMatchObject({ granted: true });
  });

  it('refuses at once, as unavailable and not as used up, while the ledger is not connected', async () => {
    const { take, settled, ledger } = openModelStore({ nodes: 2 });
    expect(await settled(take())).toMatchObject({ granted: true });
    ledger.cutOff(0);
    const answers: QuotaDecision[] = [];
    for (let taken = 0; taken < 20; taken += 1) answers.push(await take());
    expect(answers[0]).toMatchObject({ granted: true });
    expect(answers.at(-1)).toMatchObject({ granted: false, unavailable: true });
  });
});

describe('a route that refuses without the ledger', () => {
  it('waits for a slow one as well', async () => {
    const { take, next, settle, clock, policy, store } = openModelStore({ shares: true });
    const refusing = { ...policy, refuseWithoutStore: true };
    const taken = watch(take(store, refusing));
    await next('lost');
    expect(taken.answer).toBeUndefined();
    clock.advance(500);
    await settle();
    expect(taken.answer).toMatchObject({ granted: true });
  });
});

describe('a data plane that has granted its part', () => {
  it('refuses as used up, at once, while the ledger is not connected', async () => {
    const { take, settled, ledger } = openModelStore({ nodes: 2, shares: true, limit: 20 });
    for (let taken = 0; taken < 5; taken += 1) await settled(take());
    ledger.cutOff(0);
    const answers: QuotaDecision[] = [];
    for (let taken = 0; taken < 20; taken += 1) answers.push(await take());
    const refused = answers.filter(({ granted }) => !granted);
    expect(refused.length).toBeGreaterThan(0);
    for (const { unavailable } of refused) expect(unavailable).toBeUndefined();
  });
});

describe('a data plane while all of the window is reserved for another', () => {
  const setUp = (recall: Recall) => openModelStore({ nodes: 2, limit: 100, allTo: 1, recall });
  const givesAll = { slot: 1, keeps: 0, writes: 0, gives: 0 };

  it('asks again if the other does not answer at first', async () => {
    let asked = 0;
    const world = setUp(() => Promise.resolve((asked += 1) > 3 ? [givesAll] : []));
    const taken = watch(world.take());
    await world.settle();
    expect(taken.answer).toBeUndefined();
    for (let waitedMs = 0; waitedMs < ASK_MS; waitedMs += 10) {
      world.clock.advance(10);
      await world.settle();
    }
    expect(taken.answer).toMatchObject({ granted: true });
    expect(asked).toBe(4);
  });

  it('refuses as unavailable, and not as used up, if the other never answers', async () => {
    const world = setUp(() => Promise.resolve([]));
    const taken = watch(world.take());
    await world.settle();
    for (let waitedMs = 0; waitedMs <= ASK_MS + 200; waitedMs += 10) {
      world.clock.advance(10);
      await world.settle();
    }
    expect(taken.answer).toMatchObject({ granted: false, unavailable: true });
    expect(world.take()).toMatchObject({ granted: false, unavailable: true });
  });

  it('asks again half a second after the other was silent, and grants what it gives then', async () => {
    let gives = false;
    const world = setUp(() => Promise.resolve(gives ? [givesAll] : []));
    const taken = watch(world.take());
    for (let waitedMs = 0; taken.answer === undefined && waitedMs < 2 * ASK_MS; waitedMs += 10) {
      await world.settle();
      world.clock.advance(10);
    }
    expect(taken.answer).toMatchObject({ granted: false, unavailable: true });
    gives = true;
    world.clock.advance(500);
    expect(await world.take()).toMatchObject({ granted: false, unavailable: true });
    await world.settle();
    expect(await world.take()).toMatchObject({ granted: true });
  });

  it('asks again if the other has stored another reserve since its answer, and does not refuse as used up', async () => {
    let asked = 0;
    const overtaken = { ...givesAll, writes: 7 };
    const world = setUp(() => Promise.resolve([(asked += 1) > 4 ? givesAll : overtaken]));
    const taken = watch(world.take());
    for (let waitedMs = 0; taken.answer === undefined && waitedMs < ASK_MS; waitedMs += 10) {
      await world.settle();
      world.clock.advance(10);
    }
    expect(taken.answer).toMatchObject({ granted: true });
    expect(asked).toBe(5);
  });

  it('refuses as used up if the other needs all of it', async () => {
    const world = setUp(() => Promise.resolve([{ ...givesAll, keeps: 99 }]));
    for (let taken = 0; taken < 2; taken += 1) {
      const answer = watch(world.take());
      await world.settle();
      for (let waits = 0; waits < 5; waits += 1) {
        world.clock.advance(10);
        await world.settle();
      }
      if (taken === 0) expect(answer.answer).toMatchObject({ granted: true });
      else
        expect(answer.answer).toEqual({
          granted: false,
          limit: 100,
          remaining: 0,
          resetSeconds: 45,
        });
    }
  });
});
