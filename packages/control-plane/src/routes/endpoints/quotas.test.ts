import { afterEach, describe, expect, it } from '@jest/globals';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { openTestStore } from '../../../test/store.ts';
import { createAuthenticator } from '../../http/authenticate.ts';
import type { Exchange } from '../../http/reply.ts';
import { startTestApi, type TestApi } from '../../../test/api.ts';

describe('quotas of the management API', () => {
  let api: TestApi | undefined;

  afterEach(async () => {
    await api?.close();
    api = undefined;
  });

  it('answers 429 after too many failed authentications of an address, but accepts valid tokens', async () => {
    const started = (api = await startTestApi({ authFailureLimit: 3 }));
    const fail = () => started.call('GET', '/v1/services', { token: createTokenSecret() });
    const remaining: (string | null)[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { status, headers } = await fail();
      expect(status).toBe(401);
      remaining.push(headers.get('x-ratelimit-remaining'));
    }
    expect(remaining).toEqual(['2', '1', '0']);
    const refused = await fail();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('x-gateway-error')).toBe('rate_limit_exceeded');
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(refused.headers.get('x-ratelimit-reset')).toBe('60');
    expect((await started.call('GET', '/v1/services')).status).toBe(200);
    started.clock.advance(60_000);
    expect((await fail()).status).toBe(401);
  });

  it('does not count a valid token that lacks a scope as a failed authentication', async () => {
    const started = (api = await startTestApi({ authFailureLimit: 1 }));
    const body = { name: 'proxy', environments: ['production'], scopes: ['proxy'] };
    const token = await started.makeToken(body);
    for (let count = 0; count < 3; count += 1) {
      expect((await started.call('GET', '/v1/services', { token })).status).toBe(401);
    }
    expect((await started.call('GET', '/v1/services', { token: null })).status).toBe(401);
  });

  it('takes the address from X-Forwarded-For only from a trusted proxy', async () => {
    const started = (api = await startTestApi({
      authFailureLimit: 1,
      trustedProxies: ['127.0.0.1/32'],
    }));
    const fail = async (address: string) => {
      const headers = { 'x-forwarded-for': address };
      return (await started.call('GET', '/v1/services', { token: null, headers })).status;
    };
    expect(await fail('203.0.113.1')).toBe(401);
    expect(await fail('203.0.113.1')).toBe(429);
    expect(await fail('spoofed, 203.0.113.1')).toBe(429);
    expect(await fail('203.0.113.2')).toBe(401);
    // Who has one IPv6 address has all 2^64 of its network.
    expect(await fail('2001:db8:0:1::1')).toBe(401);
    expect(await fail('2001:db8:0:1:ffff::2')).toBe(429);
    expect(await fail('2001:db8:0:2::1')).toBe(401);
  });

  it('counts the failures of a bounded number of addresses', async () => {
    const uses = { note: () => undefined };
    const clock = manualClock();
    const store = await openTestStore();
    try {
      const limits = { authFailureLimit: 2, managementRateLimit: 1 };
      const authenticator = createAuthenticator({
        db: store.db,
        clock,
        ...limits,
        tokenUses: uses,
      });
      const fail = (clientAddress: string) => {
        const window = authenticator.allowance(clientAddress);
        const exchange = { clientAddress, window } as Exchange;
        return authenticator.authenticate(undefined, exchange).catch((error: unknown) => error);
      };
      for (let index = 0; index < 100_000; index += 1) await fail(`address ${index}`);
      expect(authenticator.droppedCounters()).toBe(0);
      expect(authenticator.allowance('address 0').remaining).toBe(1);
      for (let index = 0; index < 10; index += 1) await fail(`another ${index}`);
      expect(authenticator.droppedCounters()).toBe(10);
      expect(authenticator.allowance('address 9').remaining).toBe(2);
      expect(authenticator.allowance('address 10').remaining).toBe(1);
    } finally {
      await store.close();
    }
  });

  it('counts the calls of a token in a minute, and refuses those above the limit', async () => {
    const started = (api = await startTestApi({ managementRateLimit: 2 }));
    const first = await started.call('GET', '/v1/services');
    expect(first.headers.get('x-ratelimit-limit')).toBe('2');
    expect(first.headers.get('x-ratelimit-remaining')).toBe('1');
    expect((await started.call('GET', '/v1/services')).status).toBe(200);
    const refused = await started.call('GET', '/v1/services');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('60');
    started.clock.advance(60_000);
    expect((await started.call('GET', '/v1/services')).status).toBe(200);
  });
});
