import { eventually } from '@gateway/shared/testing/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '../gateway/client.ts';
import { startGateway, type Gateway } from '../gateway/gateway.ts';
import { burst, type BurstAnswer } from './burst.ts';
import { metric } from './metric.ts';

const DATA_PLANES = 4;
const LIMIT = 1000;
const WINDOW_SECONDS = 10;
const OFFERED_TO_EACH = 1000;
const MAX_BURSTS = 3;
const testTimeoutMs = 90_000;

describe('a quota over four data planes', () => {
  let gateway: Gateway;
  let clients: readonly Client[];
  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes: DATA_PLANES });
    clients = gateway.dataPlanes.map(({ baseUrl }) => gateway.admin.at(baseUrl));
    for (const { adminUrl } of gateway.dataPlanes) {
      await eventually(async () =>
        expect(await metric(adminUrl, 'gateway_live_data_planes')).toBe(DATA_PLANES),
      );
    }
  }, testTimeoutMs);
  afterAll(() => gateway.close());

  /** Resolves when a window has begun just now, as the headers of a route with the same windows tell. */
  async function newWindow(route: string): Promise<void> {
    const [client] = clients;
    await eventually(
      async () => {
        const answer = await client?.proxy(route, { method: 'GET' });
        expect(answer?.headers.get('x-ratelimit-reset')).toBe(String(WINDOW_SECONDS));
      },
      { deadlineMs: 2 * WINDOW_SECONDS * 1000 },
    );
  }

  const everywhere = async (route: string, each: number): Promise<BurstAnswer[]> =>
    (await Promise.all(clients.map((client) => burst(client, route, each)))).flat();

  it(
    'accepts at most 1000, and at least 990, of 4000 requests that are offered at once',
    async () => {
      const rateLimit = { limit: LIMIT, window_seconds: WINDOW_SECONDS };
      const offered = await gateway.route({ rate_limit: rateLimit });
      const clock = await gateway.route({ rate_limit: rateLimit });
      await gateway.settled();
      let answers: BurstAnswer[] = [];
      for (let tries = 0; tries < MAX_BURSTS; tries += 1) {
        await newWindow(String(clock['name']));
        const startedMs = performance.now();
        answers = await everywhere(String(offered['name']), OFFERED_TO_EACH);
        // One that ran into the next window says nothing.
        if (performance.now() - startedMs < (WINDOW_SECONDS - 1) * 1000) break;
        answers = [];
      }
      const accepted = answers.filter(({ status }) => status === 200);
      expect(answers).toHaveLength(DATA_PLANES * OFFERED_TO_EACH);
      expect(accepted.length + answers.filter(({ status }) => status === 429).length).toBe(
        answers.length,
      );
      expect(accepted.length).toBeLessThanOrEqual(LIMIT);
      expect(accepted.length).toBeGreaterThanOrEqual(LIMIT * 0.99);
      for (const { remaining } of answers) expect(remaining).toBeGreaterThanOrEqual(0);
      for (const { adminUrl } of gateway.dataPlanes) {
        expect(await metric(adminUrl, 'gateway_quota_share_takes_total')).toBe(0);
      }
    },
    testTimeoutMs,
  );

  it.each(['token', 'ip'] as const)(
    'holds for each subject by itself where it is per %s',
    async (per) => {
      const { name } = await gateway.route({
        rate_limit: { limit: 20, window_seconds: 86_400, per },
      });
      const other = await gateway.tokenClient();
      await gateway.settled();
      const calls = (token: string, address: string) =>
        clients.flatMap((client) =>
          Array.from({ length: 15 }, () =>
            client.proxy(String(name), { token, headers: { 'x-forwarded-for': address } }),
          ),
        );
      const accepted = async (token: string, address: string) =>
        (await Promise.all(calls(token, address))).filter(({ status }) => status === 200).length;
      const { token } = gateway.admin;
      const first = await accepted(token, '198.51.100.1');
      expect(first).toBeLessThanOrEqual(20);
      expect(first).toBeGreaterThanOrEqual(20 - DATA_PLANES + 1);
      // The same subject has nothing left, whatever else of the caller is another.
      const [sameToken, sameAddress] =
        per === 'token' ? [token, '198.51.100.2'] : [other.token, '198.51.100.1'];
      expect(await accepted(sameToken, sameAddress)).toBeLessThanOrEqual(20 - first);
      expect(await accepted(other.token, '198.51.100.3')).toBeGreaterThanOrEqual(
        20 - DATA_PLANES + 1,
      );
    },
    testTimeoutMs,
  );
});
