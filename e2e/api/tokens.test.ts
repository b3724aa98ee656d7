import { expectRefusal } from '@gateway/shared/test/refusal';
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

  it('refuses a revoked token everywhere within a second', async () => {
    const { token, tokenId } = await gateway.tokenClient();
    await gateway.settled();
    expect(await statuses(token)).toEqual([200, 200, 200]);
    const revoked = await gateway.admin.delete(`/v1/tokens/${tokenId}`);
    const startedMs = performance.now();
    expect(revoked.status).toBe(204);
    await eventually(async () => expect(await statuses(token)).toEqual([401, 401, 401]));
    expect(performance.now() - startedMs).toBeLessThan(1000);
  });

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

  it('refuses the old secret at once if no grace period is given', async () => {
    const { token, tokenId } = await gateway.tokenClient();
    await gateway.settled();
    expect(await statuses(token)).toEqual([200, 200, 200]);
    await gateway.admin.post(`/v1/tokens/${tokenId}/rotate`, { grace_seconds: 0 });
    await gateway.settled();
    expect(await statuses(token)).toEqual([401, 401, 401]);
  });

  it('shows a secret only once', async () => {
    const { token, tokenId } = await gateway.tokenClient();
    const read = await gateway.admin.get(`/v1/tokens/${tokenId}`);
    const list = await gateway.admin.get('/v1/tokens?limit=200');
    expect(read.resource().id).toBe(tokenId);
    expect(read.body + list.body).not.toContain(token);
    expect(read.body + list.body).not.toContain('secret');
  });

  it('lets no token grant rights that it does not have', async () => {
    const maker = await gateway.tokenClient({
      environments: ['production'],
      routes: ['orders'],
      scopes: ['tokens:write', 'proxy'],
    });
    const reach = { environments: ['production'], routes: ['orders'], scopes: ['proxy'] };
    const granted = await maker.post('/v1/tokens', { name: 'granted', ...reach });
    expect(granted.status).toBe(201);
    const wider = [
      { environments: ['development'] },
      { environments: ['*'] },
      { routes: ['orders', 'refunds'] },
      { routes: ['*'] },
      { scopes: ['routes:write'] },
      { scopes: ['*'] },
    ];
    for (const more of wider) {
      const refused = await maker.post('/v1/tokens', { name: 'wider', ...reach, ...more });
      await expectRefusal(refused, 401, 'authentication_failed');
    }
  });
});
