import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../test/data-path.ts';
import { testSnapshot, testToken } from '@gateway/shared/test/snapshot';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const WINDOW_SECONDS = 3600;
/** A time after a quarter of a window. */
const START_MS = WINDOW_SECONDS * 1000 * 500_000 + 900_000;

async function setUp(
  per: 'route' | 'token' | 'ip',
  route: Partial<SnapshotRoute> = {},
  environment: Record<string, string> = {},
) {
  const upstream = opened(await startUpstream());
  const clock = { ...systemClock, time: START_MS, nowMs: () => clock.time };
  const secrets = [createTokenSecret(), createTokenSecret()] as const;
  const quota = {
    limit: 2,
    window_seconds: WINDOW_SECONDS,
    per,
    on_store_unavailable: 'share' as const,
  };
  const base = testSnapshot({ upstreams: [upstream.url], rate_limit: quota, ...route }, secrets[0]);
  const [first] = base.routes;
  if (first === undefined) throw new Error('the snapshot has no route');
  const snapshot = {
    ...base,
    routes: [first, { ...first, id: 'rte_second', name: 'second' }],
    tokens: secrets.map((secret, index) => testToken(secret, { id: `tok_${index}` })),
  };
  const gateway = opened(
    await startTestDataPath({ upstreams: [] }, { snapshots: [snapshot], clock, environment }),
  );
  const call = (secret: string, path = 'test', headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1/proxy/${path}`, {
      headers: { authorization: `Bearer ${secret}`, ...headers },
    });
  return { gateway, upstream, clock, call, secrets };
}

describe('the quota of a route', () => {
  it('is shown in every response and is never negative', async () => {
    const { call, secrets, gateway } = await setUp('route');
    const seen: (string | null)[] = [];
    for (let request = 0; request < 5; request += 1) {
      const response = await call(secrets[0]);
      seen.push(`${response.status} ${response.headers.get('x-ratelimit-remaining')}`);
      expect(response.headers.get('x-ratelimit-limit')).toBe('2');
      expect(response.headers.get('x-ratelimit-reset')).toBe('2700');
      await gateway.recordOf(response);
    }
    expect(seen).toEqual(['200 1', '200 0', '429 0', '429 0', '429 0']);
    expect(gateway.records.map((record) => record.rate_limit?.remaining)).toEqual([1, 0, 0, 0, 0]);
  });

  it('is enforced with 429, which names the route and the seconds to the end of the window', async () => {
    const { call, secrets, clock, upstream } = await setUp('route');
    await call(secrets[0]);
    await call(secrets[1]);
    clock.time += 500;
    const refused = await call(secrets[0]);
    const error = await expectRefusal(refused, 429, 'rate_limit_exceeded');
    expect(error.message).toContain('test');
    expect(refused.headers.get('retry-after')).toBe('2700');
    expect(upstream.seen).toHaveLength(2);
    clock.time += 2_700_000;
    const next = await call(secrets[0]);
    expect(next.status).toBe(200);
    expect(next.headers.get('x-ratelimit-remaining')).toBe('1');
  });

  it('is exact for any number of simultaneous requests', async () => {
    const { call, secrets, upstream } = await setUp('route', {
      rate_limit: {
        limit: 10,
        window_seconds: WINDOW_SECONDS,
        per: 'route',
        on_store_unavailable: 'share',
      },
    });
    const responses = await Promise.all(Array.from({ length: 40 }, () => call(secrets[0])));
    expect(responses.filter((response) => response.status === 200)).toHaveLength(10);
    expect(responses.filter((response) => response.status === 429)).toHaveLength(30);
    expect(upstream.seen).toHaveLength(10);
  });

  it('does not count requests of other routes', async () => {
    const { call, secrets } = await setUp('route');
    await call(secrets[0]);
    await call(secrets[0]);
    expect((await call(secrets[0])).status).toBe(429);
    expect((await call(secrets[0], 'second')).headers.get('x-ratelimit-remaining')).toBe('1');
  });

  it('is counted for each token if it is per token', async () => {
    const { call, secrets } = await setUp('token');
    await call(secrets[0]);
    await call(secrets[0]);
    expect((await call(secrets[0])).status).toBe(429);
    expect((await call(secrets[1])).status).toBe(200);
  });

  it('is counted for each address if it is per address', async () => {
    const { call, secrets } = await setUp('ip', {}, { TRUSTED_PROXIES: '127.0.0.1' });
    const from = (address: string, secret = secrets[0]) =>
      call(secret, 'test', { 'x-forwarded-for': address });
    await from('198.51.100.1');
    await from('198.51.100.1', secrets[1]);
    expect((await from('198.51.100.1')).status).toBe(429);
    expect((await from('198.51.100.2')).status).toBe(200);
  });

  it('per token is counted for each address if the route has no authentication', async () => {
    const { gateway } = await setUp('token', { auth: { type: 'none' } });
    const call = () => fetch(`${gateway.url}/v1/proxy/test`);
    expect([(await call()).status, (await call()).status, (await call()).status]).toEqual([
      200, 200, 429,
    ]);
  });

  it('is not spent by refused callers', async () => {
    const { call, secrets, gateway } = await setUp('route', { methods: ['GET'] });
    await fetch(`${gateway.url}/v1/proxy/test`);
    await call(createTokenSecret());
    await call(secrets[0], 'test/%00');
    await gateway.call('test', {
      method: 'POST',
      headers: { authorization: `Bearer ${secrets[0]}` },
    });
    expect((await call(secrets[0])).headers.get('x-ratelimit-remaining')).toBe('1');
  });
});
