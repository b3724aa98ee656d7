import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '../harness/client.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { burst, type BurstAnswer } from '../harness/burst.ts';
import { metric } from '../harness/figures.ts';

const DATA_PLANES = 4;
const LIMIT = 1000;
const WINDOW_SECONDS = 10;
const RATE_LIMIT = { limit: LIMIT, window_seconds: WINDOW_SECONDS };
const OFFERED_TO_EACH = 1000;
const MAX_BURSTS = 6;
const testTimeoutMs = 180_000;
const SHARE_TAKES = 'gateway_quota_share_takes_total';
/** Counters that grow if NATS or a data plane does not answer in time, which can happen on a machine that stalls. */
const UNANSWERED = [
  'gateway_quota_refills_total{result="failed"}',
  'gateway_quota_unanswered_total',
  'gateway_quota_recalls_total{result="unanswered"}',
];

describe('a quota across four data planes', () => {
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

  /** Resolves when a window has just begun, according to the headers of a route with the same windows. */
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

  /** The sum of the series over all data planes. */
  async function sumOf(...all: readonly string[]): Promise<number> {
    const values = gateway.dataPlanes.flatMap(({ adminUrl }) =>
      all.map((series) => metric(adminUrl, series)),
    );
    return (await Promise.all(values)).reduce((sum, value) => sum + value, 0);
  }

  /** Responses to a burst at all data planes; undefined if NATS stalled meanwhile. */
  async function undisturbedBurst(clock: string): Promise<BurstAnswer[] | undefined> {
    const { name } = await gateway.route({ rate_limit: RATE_LIMIT });
    await gateway.settled();
    for (const { adminUrl } of gateway.dataPlanes) {
      await eventually(async () => expect(await metric(adminUrl, 'gateway_quota_leasing')).toBe(1));
    }
    const unanswered = await sumOf(...UNANSWERED);
    const shareTakes = await sumOf(SHARE_TAKES);
    await newWindow(clock);
    const startedMs = performance.now();
    const answers = await everywhere(String(name), OFFERED_TO_EACH);
    const ranOver = performance.now() - startedMs >= (WINDOW_SECONDS - 1) * 1000;
    if (ranOver || (await sumOf(...UNANSWERED)) > unanswered) return undefined;
    // While NATS answers, no data plane grants by share.
    expect(await sumOf(SHARE_TAKES)).toBe(shareTakes);
    return answers;
  }

  it(
    'accepts at most 1000 and at least 990 of 4000 requests that are sent at once',
    async () => {
      const clock = await gateway.route({ rate_limit: RATE_LIMIT });
      let answers: BurstAnswer[] | undefined;
      for (let tries = 0; tries < MAX_BURSTS && answers === undefined; tries += 1) {
        answers = await undisturbedBurst(String(clock['name']));
      }
      if (answers === undefined) throw new Error('NATS stalled or a window ended in each burst');
      const accepted = answers.filter(({ status }) => status === 200);
      expect(answers).toHaveLength(DATA_PLANES * OFFERED_TO_EACH);
      expect(accepted.length + answers.filter(({ status }) => status === 429).length).toBe(
        answers.length,
      );
      expect(accepted.length).toBeLessThanOrEqual(LIMIT);
      expect(accepted.length).toBeGreaterThanOrEqual(LIMIT * 0.99);
      for (const { remaining } of answers) expect(remaining).toBeGreaterThanOrEqual(0);
    },
    testTimeoutMs,
  );

  it.each(['token', 'ip'] as const)(
    'applies to each subject separately if it is per %s',
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
      // The same subject has no quota left, even if everything else of the caller differs.
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
