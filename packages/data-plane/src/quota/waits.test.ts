import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock, type Clock } from '@gateway/shared/clock';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { LeasedQuotaStore } from './leased-quota-store.ts';
import { openNatsStores, type NatsStores } from '../../test/quota/nats-store.ts';

const DATA_PLANES = 4;
const LIMIT = 60_000;
const PER_SECOND = 5000;
/** The latency of NATS in this test. */
const TICK_MS = 2;
/** Long enough to use up the limit, so that the end of the window with its small leases is included. */
const SECONDS = 12.5;

/** A clock with ticks of the latency of NATS, so that other load on this machine does not make NATS slower. */
let nowMs = 0;
const clock: Clock = { ...systemClock, monotonicMs: () => nowMs };

describe('at 5000 requests/s under 60 000 a minute, over four data planes', () => {
  const connections: NatsStores[] = [];
  const stores: LeasedQuotaStore[] = [];
  beforeAll(async () => {
    for (let node = 0; node < DATA_PLANES; node += 1) {
      const nats = await openNatsStores(String(process.env['TEST_NATS_URL']));
      connections.push(nats);
      stores.push(await nats.open({ clock, liveNodes: DATA_PLANES }));
    }
  });
  afterAll(() => Promise.all(connections.map((nats) => nats.close())));

  it('fewer than 1 % of the requests wait, and no more than the limit are granted', async () => {
    // A window of a day, so that none ends meanwhile.
    const policy = { key: randomUUID(), limit: LIMIT, windowMs: 86_400_000, per: 'route' as const };
    const total = PER_SECOND * SECONDS;
    const perTick = (PER_SECOND * TICK_MS) / 1000;
    let granted = 0;
    const answers: Promise<FixedWindow>[] = [];
    const count = (window: FixedWindow) => void (granted += window.granted ? 1 : 0);
    for (let offered = 0; offered < total; offered += 1) {
      if (offered % perTick === 0) {
        nowMs += TICK_MS;
        await connections[offered % DATA_PLANES]?.storeAnswers();
      }
      const taken = stores[offered % DATA_PLANES]?.take(policy, '', systemClock.nowMs());
      if (taken instanceof Promise) answers.push(taken);
      else if (taken !== undefined) count(taken);
    }
    for (const window of await Promise.all(answers)) count(window);

    const sum = (read: (store: LeasedQuotaStore) => number) =>
      stores.reduce((before, store) => before + read(store), 0);
    const takes = sum(({ counts }) => counts.takes);
    const waits = sum(({ counts }) => counts.leaseWaits + counts.windowWaits);
    expect(takes).toBe(total);
    expect(waits / LIMIT).toBeLessThan(0.01);
    expect(sum(({ counts }) => counts.reserveTakes)).toBe(0);
    expect(granted).toBeLessThanOrEqual(LIMIT);
    expect(granted).toBeGreaterThanOrEqual(LIMIT * 0.99);
  }, 120_000);
});
