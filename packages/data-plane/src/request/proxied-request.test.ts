import { afterEach, describe, expect, it } from '@jest/globals';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';

const open: { close?: () => Promise<void>; stop?: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await (one.stop ?? one.close)?.();
});

async function setUp(): Promise<{ gateway: TestDataPath; upstream: TestUpstream }> {
  const upstream = await startUpstream((seen, response) => {
    response.writeHead(201, { 'content-type': 'application/json', 'x-upstream': 'yes' });
    response.end(JSON.stringify({ got: seen.body }));
  });
  const gateway = await startTestDataPath({ upstreams: [`${upstream.url}/base`] });
  open.push(upstream, gateway);
  return { gateway, upstream };
}

describe('the data path', () => {
  it('forwards a request and returns status and body unchanged, with the headers of the gateway', async () => {
    const { gateway, upstream } = await setUp();
    const response = await gateway.call('test/sub/path?a=1&b=%20', {
      method: 'POST',
      body: '{"amount": 1}',
      headers: { 'content-type': 'application/json', 'x-custom': 'kept' },
    });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ got: '{"amount": 1}' });
    expect(response.headers.get('x-upstream')).toBe('yes');
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
    expect(response.headers.get('x-gateway-latency')).toMatch(/^\d+$/);
    expect(response.headers.get('x-ratelimit-remaining')).toBe('999');
    expect(response.headers.has('x-gateway-error')).toBe(false);
    expect(upstream.seen).toHaveLength(1);
    const [seen] = upstream.seen;
    expect(seen).toMatchObject({ method: 'POST', url: '/base/sub/path?a=1&b=%20' });
    expect(seen?.headers).toMatchObject({
      'x-custom': 'kept',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'cdn-loop': 'gateway',
      'x-request-id': response.headers.get('x-request-id'),
    });
    expect(seen?.headers).not.toHaveProperty('authorization');
  });
});
