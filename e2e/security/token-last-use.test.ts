import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;

describe('the last use of a token', () => {
  let gateway: BorrowedGateway;

  beforeAll(async () => {
    gateway = await borrowGateway();
    await gateway.route({ name: 'orders' });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('is shown soon after traffic and after a management call', async () => {
    const caller = await gateway.tokenClient({ scopes: ['proxy'] });
    const operator = await gateway.tokenClient({ scopes: ['services:read'] });
    const idle = await gateway.tokenClient({ scopes: ['proxy'] });
    await gateway.settled();
    const lastUse = async (id: string) =>
      (await gateway.admin.get(`/v1/tokens/${id}`)).resource()['last_used_at'];
    const startedMs = Date.now();
    expect((await caller.proxy('orders')).status).toBe(200);
    expect((await operator.get('/v1/services')).status).toBe(200);
    expect((await idle.get('/v1/services', { token: `${idle.token}x` })).status).toBe(401);
    for (const { tokenId } of [caller, operator]) {
      await eventually(
        async () => {
          const used = Date.parse(String(await lastUse(tokenId)));
          // The times come from processes on this machine.
          expect(used).toBeGreaterThanOrEqual(startedMs - 1);
          expect(used).toBeLessThanOrEqual(Date.now());
        },
        { deadlineMs: 20_000 },
      );
    }
    expect(await lastUse(idle.tokenId)).toBeNull();
  });
});
