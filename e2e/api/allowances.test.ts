import { expectRefusal } from '@gateway/shared/test/refusal';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../harness/client.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const startTimeoutMs = 60_000;
const minuteMs = 60_000;

/** Repeats the check if it failed because a new minute, and so a new window, began during it. */
async function withinOneMinute(check: () => Promise<void>): Promise<void> {
  for (;;) {
    const minute = Math.floor(Date.now() / minuteMs);
    try {
      await check();
      return;
    } catch (error) {
      if (Math.floor(Date.now() / minuteMs) === minute) throw error;
    }
  }
}

describe('the allowance of failed authentications, and the management quota', () => {
  let gateway: Gateway;
  let addresses = 0;
  /** A different client address, as a trusted proxy would send it. */
  const newAddress = () => `203.0.113.${(addresses += 1)}`;
  const from = (address: string) => ({ 'x-forwarded-for': address });

  beforeAll(async () => {
    const env = { AUTH_FAILURE_LIMIT: '3', MANAGEMENT_RATE_LIMIT: '40' };
    gateway = await startGateway({ env });
    await gateway.route({ name: 'orders' });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it.each([
    ['the proxy path', '/v1/proxy/orders'],
    ['the management API', '/v1/services'],
  ])(
    'counts failures of an address on %s, answers 429 past them, and never holds up a valid token',
    async (_where, path) => {
      await withinOneMinute(async () => {
        const address = newAddress();
        const fail = () =>
          gateway.admin.call('GET', path, { headers: from(address), token: createTokenSecret() });
        const left: (string | null)[] = [];
        for (let count = 0; count < 3; count += 1) {
          const answer = await fail();
          await expectRefusal(answer, 401, 'authentication_failed');
          left.push(answer.headers.get('x-ratelimit-remaining'));
        }
        expect(left).toEqual(['2', '1', '0']);
        const refused = await fail();
        await expectRefusal(refused, 429, 'rate_limit_exceeded');
        expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
        expect((await gateway.admin.get(path, { headers: from(address) })).status).toBe(200);
        const other = await gateway.admin.get(path, { headers: from(newAddress()), token: null });
        await expectRefusal(other, 401, 'authentication_failed');
      });
    },
  );

  it('counts the management calls of a token in X-RateLimit-Remaining, and answers 429 above its quota', async () => {
    await withinOneMinute(async () => {
      const { token } = await gateway.tokenClient({ scopes: ['services:read'] });
      const call = () => gateway.admin.call('GET', '/v1/services', { token });
      const first = await call();
      expect(first.headers.get('x-ratelimit-limit')).toBe('40');
      expect(first.headers.get('x-ratelimit-remaining')).toBe('39');
      const answers: Answer[] = [];
      for (let count = 0; count < 40; count += 1) answers.push(await call());
      expect(answers.map(({ status }) => status)).toEqual([...Array<number>(39).fill(200), 429]);
      await expectRefusal(await call(), 429, 'rate_limit_exceeded');
    });
  });
});
