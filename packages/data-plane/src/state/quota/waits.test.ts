import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { LeasedQuotaStore } from './leased-quota-store.ts';
import { openNatsStores, type NatsStores } from './testing/nats-store.ts';

const DATA_PLANES = 4;
const LIMIT = 60_000;
const PER_SECOND = 5000;
const TICK_MS = 10;
/** Longer than the limit lasts, so that the scarce end of the window is in it. */
const SECONDS = 12.5;

describe('at 5000 requests/s under 60 000 a minute, over four data planes', () => {
  const connections: NatsStores[] = [];
  const stores: LeasedQuotaStore[] = [];
  beforeAll(async () => {
    for (let node = 0; node < DATA_PLANES; node += 1) {
      const nats = await openNatsStores(String(process.env['TEST_NATS_URL']));
      connections.push(nats);
      stores.push(await nats.open({ clock: systemClock, liveNodes: DATA_PLANES }));
    }
  });
  afterAll(() => Promise.all(connections.map((nats) => nats.close())));

  it('fewer than 1 % wait, and no more than the limit are granted', async () => {
    // A day, so that no window ends meanwhile: the beginning of one is in it anyhow.
    const policy = { key: randomUUID(), limit: LIMIT, windowMs: 86_400_000, per: 'route' as const };
    const startedMs = systemClock.monotonicMs();
    const total = PER_SECOND * SECONDS;
    let offered = 0;
    let granted = 0;
    const answers: Promise<FixedWindow>[] = [];
    const count = (window: FixedWindow) => void (granted += window.granted ? 1 : 0);
    await new Promise<void>((resolve) => {
      const offer = () => {
        const elapsedMs = systemClock.monotonicMs() - startedMs;
        const due = Math.min(total, Math.ceil((elapsedMs * PER_SECOND) / 1000));
        for (; offered < due; offered += 1) {
          const taken = stores[offered % DATA_PLANES]?.take(policy, '', systemClock.nowMs());
          if (taken instanceof Promise) answers.push(taken);
          else if (taken !== undefined) count(taken);
        }
        if (offered < total) setTimeout(offer, TICK_MS);
        else resolve();
      };
      offer();
    });
    for (const window of await Promise.all(answers)) count(window);

    const sum = (read: (store: LeasedQuotaStore) => number) =>
      stores.reduce((before, store) => before + read(store), 0);
    const takes = sum(({ counts }) => counts.takes);
    const waits = sum(({ counts }) => counts.leaseWaits + counts.windowWaits);
    expect(takes).toBe(total);
    expect(waits / LIMIT).toBeLessThan(0.01);
    expect(sum(({ counts }) => counts.shared)).toBe(0);
    expect(granted).toBeLessThanOrEqual(LIMIT);
    expect(granted).toBeGreaterThanOrEqual(LIMIT * 0.99);
  });
});
