import { describe, expect, it } from '@jest/globals';
import type { QuotaPolicy } from '../routing-table/routing-table.ts';
import { newest, openModelStore, WINDOW_MS } from '../../test/quota/model-store.ts';

const LIMIT = 40;
/** After this the ledger is asked again. */
const ASKED_AGAIN_MS = 5000;

describe('a quota that the store has no entry of and accepts none', () => {
  function setUp(options: Parameters<typeof openModelStore>[0] = {}) {
    const world = openModelStore({ limit: LIMIT, nodes: 2, shares: true, ...options });
    const policy: QuotaPolicy = { ...world.policy, per: 'token' };
    const take = (subject: string, of = policy) =>
      world.settled(Promise.resolve(world.store.take(of, subject, world.clock.nowMs())));
    return { ...world, policy, take, refusing: { ...policy, refuseWithoutStore: true } };
  }

  it('is granted by share, and what was granted is stored as soon as there is room', async () => {
    const { take, ledger, clock, store } = setUp();
    ledger.full = true;
    for (let taken = 0; taken < LIMIT / 2; taken += 1) {
      expect(await take('new')).toMatchObject({ granted: true });
    }
    const over = await take('new');
    expect([over.granted, over.unavailable]).toEqual([false, undefined]);
    expect(store.counts.reserveTakes).toBe(LIMIT / 2 + 1);
    ledger.full = false;
    clock.advance(ASKED_AGAIN_MS);
    await take('new');
    expect(newest(ledger)?.granted).toBeGreaterThanOrEqual(LIMIT / 2);
  });

  it('is refused with 503 if the route says so, says why, and is granted as soon as there is room', async () => {
    const { take, refusing, ledger, clock } = setUp();
    ledger.full = true;
    const refused = { granted: false, unavailable: true, bound: 'bucket' };
    expect(await take('new', refusing)).toMatchObject(refused);
    // Without asking the ledger each time.
    expect(ledger.pending).toBe(0);
    ledger.full = false;
    expect(await take('new', refusing)).toMatchObject(refused);
    clock.advance(ASKED_AGAIN_MS);
    const granted = await take('new', refusing);
    expect([granted.granted, granted.unavailable]).toEqual([true, undefined]);
  });

  it('does not concern a subject that has an entry, in this window or the next', async () => {
    const { take, refusing, ledger, clock } = setUp();
    expect(await take('known', refusing)).toMatchObject({ granted: true });
    ledger.full = true;
    for (let taken = 1; taken < LIMIT / 2; taken += 1) {
      expect(await take('known', refusing)).toMatchObject({ granted: true });
    }
    clock.advance(WINDOW_MS);
    expect(await take('known', refusing)).toMatchObject({ granted: true });
  });

  it('is granted by share to a bounded number of subjects, so that what they were granted is not forgotten', async () => {
    // The store of this world has 10 counters, and a quarter of them may do so.
    const { take, ledger } = setUp();
    ledger.full = true;
    const answers = [];
    for (const subject of ['a', 'b', 'c', 'd', 'e']) answers.push(await take(subject));
    expect(answers.map(({ granted }) => granted)).toEqual([true, true, true, false, false]);
    expect(answers.at(-1)).toMatchObject({ unavailable: true, bound: 'bucket' });
    // Those that were granted some go on.
    expect(await take('a')).toMatchObject({ granted: true });
  });

  it('is explained: what would be granted, and which bound is reached', async () => {
    const { ledger, store, policy, refusing, clock, settle } = setUp();
    ledger.full = true;
    const view = async (of: QuotaPolicy) => {
      const viewed = store.view(of, 'new', clock.nowMs());
      await settle();
      return viewed;
    };
    expect(await view(policy)).toMatchObject({ basis: 'bound', bound: 'bucket', granted: true });
    expect(await view(refusing)).toMatchObject({
      basis: 'bound',
      bound: 'bucket',
      granted: false,
      unavailable: true,
    });
  });
});
