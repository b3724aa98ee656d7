import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { manualClock, type ManualClock } from '@gateway/shared/test/manual-clock';
import type { QuotaPolicy } from '../routing-table/routing-table.ts';
import type { LeasedQuotaStore } from './leased-quota-store.ts';
import { openNatsStores, type NatsStores } from '../../test/quota/nats-store.ts';
import { MemoryQuotaStore } from '../../test/quota/memory-store.ts';
import type { QuotaStore } from './quota-store.ts';

const WINDOW_MS = 60_000;
/** A time after a quarter of a window. */
const START_MS = WINDOW_MS * 31_000_000 + 15_000;

type TestStore = QuotaStore & { readonly dropped: number };
type OpenStore = (clock: ManualClock, maxCounters: number) => Promise<TestStore>;

let nats: NatsStores;
beforeAll(async () => {
  nats = await openNatsStores(String(process.env['TEST_NATS_URL']));
});
afterAll(() => nats.close());

const leased: LeasedQuotaStore[] = [];
afterEach(() => {
  // With one data plane, grants from the share could not be distinguished from leases.
  for (const { counts } of leased.splice(0))
    expect([counts.reserveTakes, counts.failedRefills]).toEqual([0, 0]);
});

const implementations: readonly (readonly [string, OpenStore])[] = [
  ['in memory', (_clock, maxCounters) => Promise.resolve(new MemoryQuotaStore(maxCounters))],
  [
    'over NATS',
    async (clock, maxCounters) => {
      const store = await nats.open({ clock, maxCounters });
      leased.push(store);
      return store;
    },
  ],
];

describe.each(implementations)('a quota store %s', (_name, open) => {
  async function setUp(maxCounters = 1000) {
    const clock = manualClock(START_MS);
    const store = await open(clock, maxCounters);
    const key = randomUUID();
    const policy = (limit: number, fields: Partial<QuotaPolicy> = {}): QuotaPolicy => ({
      key,
      limit,
      windowMs: WINDOW_MS,
      per: 'route',
      ...fields,
    });
    const take = async (one: QuotaPolicy, subject = '') => store.take(one, subject, clock.nowMs());
    return { clock, store, policy, take };
  }

  it.each([1, 2, 7, 100, 1000])(
    'grants %i in a window, counting down by one, and no more',
    async (limit) => {
      const { policy, take } = await setUp();
      for (let left = limit - 1; left >= 0; left -= 1) {
        const window = await take(policy(limit));
        expect([window.granted, window.remaining, window.limit]).toEqual([true, left, limit]);
      }
      for (let over = 0; over < 3; over += 1) {
        expect(await take(policy(limit))).toMatchObject({ granted: false, remaining: 0 });
      }
    },
  );

  it('grants exactly the limit for any number of simultaneous requests', async () => {
    const { policy, take } = await setUp();
    const asked = Array.from({ length: 500 }, () => take(policy(200)));
    const windows = await Promise.all(asked);
    expect(windows.filter((window) => window.granted)).toHaveLength(200);
  });

  it('returns the whole seconds to the end of the window', async () => {
    const { clock, policy, take } = await setUp();
    expect((await take(policy(2))).resetSeconds).toBe(45);
    clock.advance(500);
    expect((await take(policy(2))).resetSeconds).toBe(45);
    clock.advance(499);
    expect(await take(policy(2))).toMatchObject({ granted: false, resetSeconds: 45 });
    clock.advance(2);
    expect(await take(policy(2))).toMatchObject({ granted: false, resetSeconds: 44 });
  });

  it('starts from zero in each window', async () => {
    const { clock, policy, take } = await setUp();
    for (let window = 0; window < 3; window += 1) {
      expect(await take(policy(2))).toMatchObject({ granted: true, remaining: 1 });
      expect(await take(policy(2))).toMatchObject({ granted: true, remaining: 0 });
      expect(await take(policy(2))).toMatchObject({ granted: false });
      clock.advance(WINDOW_MS);
    }
  });

  it('counts each policy and each subject separately', async () => {
    const { policy, take } = await setUp();
    const other = policy(1, { key: randomUUID() });
    expect((await take(policy(1))).granted).toBe(true);
    expect((await take(policy(1))).granted).toBe(false);
    expect((await take(policy(1), 'tok_a')).granted).toBe(true);
    expect((await take(policy(1), 'tok_b')).granted).toBe(true);
    expect((await take(policy(1), 'tok_a')).granted).toBe(false);
    expect((await take(other)).granted).toBe(true);
  });

  it('counts what was already granted against a limit that is lowered within the window', async () => {
    const { policy, take } = await setUp();
    for (let taken = 0; taken < 5; taken += 1) await take(policy(1000));
    expect(await take(policy(7))).toMatchObject({ granted: true, remaining: 1, limit: 7 });
    expect(await take(policy(7))).toMatchObject({ granted: true, remaining: 0 });
    expect(await take(policy(7))).toMatchObject({ granted: false, remaining: 0 });
    expect(await take(policy(3))).toMatchObject({ granted: false, remaining: 0 });
  });

  it('grants the difference when the limit is raised within the window', async () => {
    const { policy, take } = await setUp();
    for (let taken = 0; taken < 3; taken += 1) await take(policy(2));
    expect(await take(policy(4))).toMatchObject({ granted: true, remaining: 1 });
    expect(await take(policy(4))).toMatchObject({ granted: true, remaining: 0 });
    expect(await take(policy(4))).toMatchObject({ granted: false });
  });

  it('starts from zero with windows of another length', async () => {
    const { policy, take } = await setUp();
    expect((await take(policy(1))).granted).toBe(true);
    const hourly = policy(1, { windowMs: 3_600_000 });
    expect((await take(hourly)).granted).toBe(true);
    expect((await take(hourly)).granted).toBe(false);
  });

  it('keeps a bounded number of counters and counts those it removes', async () => {
    const { policy, store, take } = await setUp(10);
    for (let subject = 0; subject < 25; subject += 1) await take(policy(5), `ip ${subject}`);
    expect(store.dropped).toBe(15);
  });
});
