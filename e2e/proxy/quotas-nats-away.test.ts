import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '../harness/client.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { burst } from '../harness/burst.ts';
import { metric } from '../harness/figures.ts';
import { shareQuotas } from '../harness/quota-shares.ts';

const DATA_PLANES = 2;
const LIMIT = 100;
const SHARE = LIMIT / DATA_PLANES;
const LEASE_WAITS = 'gateway_quota_waits_total{for="lease"}';
const testTimeoutMs = 90_000;

/** The length of a window that begins soon after the data planes have their shares, and does not end during the test. */
function nextWindow(): { window_seconds: number; beginsMs: number } {
  const nowSeconds = Math.floor(Date.now() / 1000);
  for (let inSeconds = 6; inSeconds <= 30; inSeconds += 1) {
    const begins = nowSeconds + inSeconds;
    for (let length = 600; length < 6000; length += 1) {
      if (begins % length === 0) return { window_seconds: length, beginsMs: begins * 1000 };
    }
  }
  throw new Error('no window begins soon');
}

describe('quotas while NATS is down', () => {
  let gateway: Gateway;
  let clients: readonly Client[];
  const names: string[] = [];
  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes: DATA_PLANES });
    clients = gateway.dataPlanes.map(({ baseUrl }) => gateway.admin.at(baseUrl));
    const { window_seconds, beginsMs } = nextWindow();
    for (const limit of [LIMIT, LIMIT, LIMIT, 1]) {
      const { name } = await gateway.route({ rate_limit: { limit, window_seconds } });
      names.push(String(name));
    }
    await gateway.settled();
    await shareQuotas(gateway.dataPlanes);
    await eventually(() => expect(Date.now()).toBeGreaterThan(beginsMs), { deadlineMs: 40_000 });
    expect(Date.now()).toBeLessThan(beginsMs + 60_000);
  }, testTimeoutMs);
  afterAll(() => gateway.close());

  const acceptedBy = async (
    client: Client | undefined,
    route: string | undefined,
    count: number,
  ) => {
    if (client === undefined || route === undefined) throw new Error('no such data plane');
    const answers = await burst(client, route, count);
    return answers.filter(({ status }) => status === 200).length;
  };

  it(
    'are granted by share on each data plane, without waiting, and count when NATS is back',
    async () => {
      const [fresh, begun, resumed, single] = names;
      const [first, second] = clients;
      // Requests that were granted before the outage count: 60 of 100, all by one data plane.
      expect(await acceptedBy(first, begun, 60)).toBe(60);

      await gateway.stack.nats.stop();
      for (const { adminUrl } of gateway.dataPlanes) {
        await eventually(async () =>
          expect(await metric(adminUrl, 'gateway_quota_leasing')).toBe(0),
        );
      }
      const waits = await Promise.all(
        gateway.dataPlanes.map(({ adminUrl }) => metric(adminUrl, LEASE_WAITS)),
      );
      expect(await acceptedBy(first, fresh, LIMIT)).toBe(SHARE);
      expect(await acceptedBy(second, fresh, LIMIT)).toBe(SHARE);
      expect(await acceptedBy(second, begun, LIMIT)).toBeLessThanOrEqual(SHARE);
      // The share of each of two data planes is below one request, so none is granted.
      expect(await acceptedBy(first, single, 5)).toBe(0);
      expect(await acceptedBy(first, resumed, 30)).toBe(30);
      expect(await acceptedBy(second, resumed, 30)).toBe(30);
      expect(
        await Promise.all(gateway.dataPlanes.map(({ adminUrl }) => metric(adminUrl, LEASE_WAITS))),
      ).toEqual(waits);

      await gateway.stack.restartNats();
      for (const { adminUrl } of gateway.dataPlanes) {
        await eventually(
          async () => expect(await metric(adminUrl, 'gateway_quota_leasing')).toBe(1),
          { deadlineMs: 20_000 },
        );
      }
      // 60 were granted by share; one data plane may use all of the rest, but no more.
      expect(await acceptedBy(first, resumed, LIMIT)).toBe(LIMIT - 60);
      expect(await acceptedBy(second, resumed, LIMIT)).toBe(0);
      expect(await acceptedBy(second, fresh, LIMIT)).toBe(0);
      expect(await acceptedBy(first, single, 5)).toBe(1);
    },
    testTimeoutMs,
  );
});
