import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
/** A time 20 s after the start of a window of a minute. */
const MID_WINDOW_MS = 60_000 * 1000 + 20_000;

async function setUp(environment: Record<string, string> = {}) {
  const upstream = opened(await startUpstream());
  const clock = { ...systemClock, time: MID_WINDOW_MS, nowMs: () => clock.time };
  const gateway = opened(
    await startTestDataPath(
      { upstreams: [upstream.url] },
      { environment: { AUTH_FAILURE_LIMIT: '3', ...environment }, clock },
    ),
  );
  return { gateway, clock, upstream };
}

function fail(gateway: TestDataPath, forwardedFor?: string): Promise<Response> {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
  return fetch(`${gateway.url}/v1/proxy/test`, { headers });
}

async function exhaust(gateway: TestDataPath, forwardedFor?: string): Promise<void> {
  for (const left of ['2', '1', '0']) {
    const refused = await fail(gateway, forwardedFor);
    await expectRefusal(refused, 401, 'authentication_failed');
    expect(refused.headers.get('x-ratelimit-remaining')).toBe(left);
    expect(refused.headers.get('x-ratelimit-limit')).toBe('3');
  }
}

describe('the allowance for failed authentication', () => {
  it('counts down for each failure, then answers 429 to failing requests until the minute ends', async () => {
    const { gateway, clock } = await setUp();
    await exhaust(gateway);
    for (let again = 0; again < 3; again += 1) {
      const refused = await fail(gateway);
      await expectRefusal(refused, 429, 'rate_limit_exceeded');
      expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
      expect(refused.headers.get('retry-after')).toBe('40');
    }
    clock.time += 40_000;
    await expectRefusal(await fail(gateway), 401, 'authentication_failed');
  });

  it('never refuses a valid token and is not used up by one', async () => {
    const { gateway } = await setUp();
    for (let call = 0; call < 5; call += 1) expect((await gateway.call('test')).status).toBe(200);
    await exhaust(gateway);
    await fail(gateway);
    for (let call = 0; call < 5; call += 1) expect((await gateway.call('test')).status).toBe(200);
  });

  it('is shown in a refusal before any route is known, which does not use it', async () => {
    const { gateway } = await setUp();
    for (let call = 0; call < 2; call += 1) {
      const refused = await gateway.call('test/%00');
      await expectRefusal(refused, 400, 'invalid_request');
      expect(refused.headers.get('x-ratelimit-remaining')).toBe('3');
    }
  });

  it('is counted for the address of the connection, whatever X-Forwarded-For says', async () => {
    const { gateway } = await setUp();
    await fail(gateway, '198.51.100.1');
    await fail(gateway, '198.51.100.2');
    await fail(gateway, '198.51.100.3');
    const refused = await fail(gateway, '198.51.100.4');
    await expectRefusal(refused, 429, 'rate_limit_exceeded');
    expect(await gateway.recordOf(refused)).toMatchObject({ client_ip: '127.0.0.1' });
  });

  it('is counted for each client behind a trusted proxy, by the address that the proxy saw', async () => {
    const { gateway, upstream } = await setUp({ TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8' });
    await exhaust(gateway, '198.51.100.1');
    const forged = await fail(gateway, '203.0.113.99, 198.51.100.1, 10.1.1.1');
    await expectRefusal(forged, 429, 'rate_limit_exceeded');
    expect(await gateway.recordOf(forged)).toMatchObject({ client_ip: '198.51.100.1' });
    const other = await fail(gateway, '198.51.100.2');
    await expectRefusal(other, 401, 'authentication_failed');
    expect(other.headers.get('x-ratelimit-remaining')).toBe('2');
    await gateway.call('test', { headers: { 'x-forwarded-for': '198.51.100.7' } });
    expect(upstream.seen[0]?.headers['x-forwarded-for']).toBe('198.51.100.7, 127.0.0.1');
  });
});
