import { describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestDataPath } from '../../test/data-path.ts';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

/** The number of simultaneous requests that each upstream gets, by its weight. */
async function spread(weights: readonly number[], requests: number): Promise<number[]> {
  const held: ServerResponse[] = [];
  const upstreams = await Promise.all(
    weights.map(() => startUpstream((_seen, response) => void held.push(response))),
  );
  upstreams.forEach(opened);
  const urls = upstreams.map((upstream) => upstream.url);
  const gateway = opened(await startTestDataPath({ upstreams: urls }));
  const snapshot = testSnapshot({ upstreams: urls, timeout_ms: 60_000 }, gateway.token);
  await gateway.use({
    ...snapshot,
    services: snapshot.services.map((service) => ({
      ...service,
      upstreams: service.upstreams.map((one, index) => ({ ...one, weight: weights[index] ?? 1 })),
    })),
  });
  const calls = Array.from({ length: requests }, () => gateway.call('test'));
  await eventually(() => expect(held.length).toBe(requests));
  const counts = upstreams.map((upstream) => upstream.seen.length);
  for (const response of held) response.end();
  await Promise.all(calls);
  return counts;
}

describe('the choice of an upstream', () => {
  it('spreads requests in flight evenly', async () => {
    const counts = await spread([1, 1, 1, 1], 80);
    for (const count of counts) {
      expect(count).toBeGreaterThanOrEqual(15);
      expect(count).toBeLessThanOrEqual(25);
    }
  });

  it('follows the weights', async () => {
    const [light = 0, heavy = 0] = await spread([1, 3], 80);
    expect(light).toBeGreaterThanOrEqual(15);
    expect(light).toBeLessThanOrEqual(25);
    expect(light + heavy).toBe(80);
  });

  it('avoids an upstream that does not respond', async () => {
    const stuck: ServerResponse[] = [];
    const slow = opened(await startUpstream((_seen, response) => void stuck.push(response)));
    const quick = opened(await startUpstream());
    const route = { upstreams: [slow.url, quick.url], timeout_ms: 60_000 };
    const gateway = opened(await startTestDataPath(route));
    const calls = Array.from({ length: 20 }, () => gateway.call('test'));
    await eventually(() => expect(slow.seen.length + quick.seen.length).toBe(20));
    await eventually(() => expect(gateway.records.length).toBe(quick.seen.length));
    const before = slow.seen.length;
    for (let request = 0; request < 20; request += 1) {
      expect((await gateway.call('test')).status).toBe(200);
    }
    expect(slow.seen).toHaveLength(before);
    for (const response of stuck) response.end();
    await Promise.all(calls);
  });
});

describe('a denied address', () => {
  const LOOPBACK = ['127.0.0.0/8', '::1/128', '0.0.0.0/8', '::/128'];

  it.each([
    'http://127.0.0.1:@',
    'http://127.1.2.3:@',
    'http://localhost:@',
    'http://2130706433:@',
    'http://0x7f.1:@',
    'http://[::1]:@',
    'http://[::ffff:127.0.0.1]:@',
    'http://0.0.0.0:@',
  ])('is never connected to, in whatever form it is written: %s', async (url) => {
    let connections = 0;
    const upstream = opened(await startRawUpstream(() => (connections += 1)));
    const gateway = opened(
      await startTestDataPath(
        { upstreams: [url.replace('@', String(upstream.port))], retry_count: 1 },
        { denyCidrs: LOOPBACK },
      ),
    );
    const response = await gateway.call('test');
    const error = await expectRefusal(response, 502, 'upstream_unavailable');
    expect(error.message).not.toContain('127');
    expect((await gateway.recordOf(response)).attempts).toMatchObject([
      { error: 'address_refused' },
      { error: 'address_refused' },
    ]);
    expect(connections).toBe(0);
  });

  it('is that of cloud metadata services by default', async () => {
    const upstreams = ['http://169.254.169.254/latest', 'http://[fd00:ec2::254]'];
    const gateway = opened(await startTestDataPath({ upstreams, retry_count: 1 }));
    const response = await gateway.call('test');
    await expectRefusal(response, 502, 'upstream_unavailable');
    for (const attempt of (await gateway.recordOf(response)).attempts) {
      expect(attempt).toMatchObject({ error: 'address_refused' });
    }
  });
});

describe('load above MAX_IN_FLIGHT_REQUESTS', () => {
  it('is refused with 503; each request that ends makes room for another', async () => {
    const held: ServerResponse[] = [];
    const upstream = opened(await startUpstream((_seen, response) => void held.push(response)));
    const gateway = opened(
      await startTestDataPath(
        { upstreams: [upstream.url], timeout_ms: 60_000 },
        { environment: { MAX_IN_FLIGHT_REQUESTS: '3' } },
      ),
    );
    const calls = Array.from({ length: 3 }, () => gateway.call('test'));
    await eventually(() => expect(held.length).toBe(3));
    const shed = await gateway.call('test');
    await expectRefusal(shed, 503, 'gateway_overloaded');
    expect(shed.headers.get('retry-after')).toBe('1');
    for (const response of held.splice(0)) response.end();
    await Promise.all(calls);
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    const next = gateway.call('test');
    await eventually(() => expect(held.length).toBe(1));
    held[0]?.end();
    expect((await next).status).toBe(200);
  });
});
