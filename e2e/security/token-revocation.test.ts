import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { percentile } from '../harness/figures.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const startTimeoutMs = 60_000;
const dataPlanes = 3;
const revocations = 20;
const longestMs = 10_000;

describe('the revocation of a token', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes, env: { AUTH_FAILURE_LIMIT: '100000' } });
    await gateway.route({ name: 'orders' });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  /** The time from now until this data plane refuses the token, ms. */
  async function refusedAfterMs(baseUrl: string, token: string): Promise<number> {
    const startedMs = performance.now();
    const client = gateway.admin.at(baseUrl).withToken(token);
    const answered = async () => {
      const { status } = await client.proxy('orders');
      if (status === 200) throw new Error('the token is still accepted');
      return status;
    };
    const status = await eventually(answered, { deadlineMs: longestMs, intervalMs: 5 });
    const tookMs = performance.now() - startedMs;
    expect(status).toBe(401);
    return tookMs;
  }

  it(
    'reaches every data plane within a second, every time',
    async () => {
      const tokens = await Promise.all(
        Array.from({ length: revocations }, () => gateway.tokenClient({ scopes: ['proxy'] })),
      );
      await gateway.settled();
      const latenciesMs: number[] = [];
      for (const { token, tokenId } of tokens) {
        const served = gateway.dataPlanes.map(async ({ baseUrl }) => {
          const client = gateway.admin.at(baseUrl).withToken(token);
          return (await client.proxy('orders')).status;
        });
        expect(await Promise.all(served)).toEqual([200, 200, 200]);
        expect((await gateway.admin.delete(`/v1/tokens/${tokenId}`)).status).toBe(204);
        const waits = gateway.dataPlanes.map(({ baseUrl }) => refusedAfterMs(baseUrl, token));
        latenciesMs.push(Math.max(...(await Promise.all(waits))));
        const management = await gateway.admin.withToken(token).get('/v1/environments');
        expect(management.status).toBe(401);
      }
      const [median, max] = [0.5, 1].map((rank) => percentile(latenciesMs, rank));
      process.stderr.write(
        `revocation over ${revocations} tokens, ${dataPlanes} data planes: ` +
          `median ${median?.toFixed(1)} ms, max ${max?.toFixed(1)} ms\n`,
      );
      expect(latenciesMs).toHaveLength(revocations);
      expect(max).toBeLessThan(1000);
    },
    startTimeoutMs,
  );
});
