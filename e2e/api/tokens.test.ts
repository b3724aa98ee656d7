import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;

describe('tokens on the proxy path and on the management API', () => {
  let gateway: BorrowedGateway;
  /** The status of the route on each data plane, then of a management call. */
  const statuses = async (token: string): Promise<number[]> => {
    const clients = gateway.dataPlanes.map(({ baseUrl }) => gateway.admin.at(baseUrl));
    const calls = clients.map((client) => client.proxy('orders', { token }));
    const answers = await Promise.all([...calls, gateway.admin.get('/v1/routes', { token })]);
    return answers.map(({ status }) => status);
  };

  beforeAll(async () => {
    gateway = await borrowGateway();
    await gateway.route({ name: 'orders' });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('refuses a token everywhere when it expires', async () => {
    // On a busy machine the first tokens may expire before they are served.
    for (let lifetimeMs = 3000; lifetimeMs <= 12_000; lifetimeMs *= 2) {
      const expiresAtMs = Date.now() + lifetimeMs;
      const { token } = await gateway.tokenClient({
        expires_at: new Date(expiresAtMs).toISOString(),
      });
      await gateway.settled();
      const before = await statuses(token);
      if (Date.now() >= expiresAtMs) continue;
      expect(before).toEqual([200, 200, 200]);
      await eventually(async () => expect(await statuses(token)).toEqual([401, 401, 401]));
      expect(Date.now()).toBeGreaterThanOrEqual(expiresAtMs);
      return;
    }
    throw new Error('no token was served before it expired');
  });

  it('accepts both secrets of a rotated token during its grace period', async () => {
    const { token, tokenId } = await gateway.tokenClient();
    const rotated = await gateway.admin.post(`/v1/tokens/${tokenId}/rotate`, {
      grace_seconds: 60,
    });
    const secret = String(rotated.resource()['secret']);
    expect(secret).not.toBe(token);
    await gateway.settled();
    expect(await statuses(token)).toEqual([200, 200, 200]);
    expect(await statuses(secret)).toEqual([200, 200, 200]);
  });

  it('refuses the old secret of a rotated token when its grace period ends', async () => {
    const { token, tokenId } = await gateway.tokenClient();
    const startedMs = Date.now();
    const rotated = await gateway.admin.post(`/v1/tokens/${tokenId}/rotate`, { grace_seconds: 1 });
    const secret = String(rotated.resource()['secret']);
    await eventually(async () => expect(await statuses(token)).toEqual([401, 401, 401]));
    expect(Date.now() - startedMs).toBeGreaterThanOrEqual(1000);
    expect(await statuses(secret)).toEqual([200, 200, 200]);
  });
});
