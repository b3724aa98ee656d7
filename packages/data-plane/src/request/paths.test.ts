import { describe, expect, it } from '@jest/globals';
import { startTestDataPath } from '../../test/data-path.ts';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

async function setUp(base = '/base', route: Partial<SnapshotRoute> = {}) {
  const upstream = opened(await startUpstream());
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url + base], ...route }));
  const call = (target: string) => rawCall(gateway.port, { target }, gateway.token);
  return { upstream, gateway, call };
}

describe('paths', () => {
  it.each([
    ['/v1/proxy/test', '/base'],
    ['/v1/proxy/test/', '/base/'],
    ['/v1/proxy/test//a///b', '/base//a///b'],
    ['/v1/proxy/test/a%2Fb/%E4%BD%A0', '/base/a%2Fb/%E4%BD%A0'],
    ['/v1/proxy/test/...', '/base/...'],
    ['/v1/proxy/test/./a/.', '/base/./a/.'],
    ['/v1/proxy/test?a=1&a=2&&=;%zz+%20?/../..', '/base?a=1&a=2&&=;%zz+%20?/../..'],
    ['/v1/proxy/test/x?', '/base/x?'],
    ['http://gateway.test/v1/proxy/test/x?y=1', '/base/x?y=1'],
    ['HTTP://other.test:81/v1/proxy/test', '/base'],
  ])('forwards %s as %s', async (target, expected) => {
    const { call, upstream } = await setUp();
    expect((await call(target)).status).toBe(200);
    expect(upstream.seen.map((seen) => seen.url)).toEqual([expected]);
  });

  it.each([
    ['', '/v1/proxy/test', '/'],
    ['/', '/v1/proxy/test/a', '/a'],
    ['/base/', '/v1/proxy/test/a', '/base/a'],
    ['/base/', '/v1/proxy/test', '/base'],
    ['', '/v1/proxy/test//evil.test/x', '/evil.test/x'],
    ['/', '/v1/proxy/test//evil.test/x', '/evil.test/x'],
    ['', '/v1/proxy/test///evil.test//x?//y', '/evil.test//x?//y'],
    ['', '/v1/proxy/test/\\evil.test/x', '/evil.test/x'],
    ['', '/v1/proxy/test//\\/evil.test', '/evil.test'],
    ['', '/v1/proxy/test//', '/'],
    ['', 'http://gateway.test/v1/proxy/test//evil.test/x', '/evil.test/x'],
  ])('joins the base %s and %s to %s', async (base, target, expected) => {
    const { call, upstream } = await setUp(base);
    await call(target);
    expect(upstream.seen.map((seen) => seen.url)).toEqual([expected]);
  });

  it.each([
    '/..',
    '/../admin',
    '/a/../../admin',
    '/%2e%2e/admin',
    '/%252e%252e/admin',
    '/..%2fadmin',
    '/..%5cadmin',
    '/..\\admin',
    '/..;/admin',
    '/%c0%ae%c0%ae/admin',
    '/a%00',
    '/a%0d%0aX-Injected:%201',
    '/a%09b',
    '/a%0A',
    '/a%0D',
    '/a%250a',
    '/.%0a./admin',
    '/%',
    '/..#',
    '/a#b',
    '/..%23',
    '/..%3f',
  ])('refuses the sub-path %s with 400, which names the path', async (subPath) => {
    const { call, upstream, gateway } = await setUp();
    const response = await call(`/v1/proxy/test${subPath}`);
    const error = await expectRefusal(response, 400, 'invalid_request');
    expect(error.details).toEqual([{ path: 'path', message: expect.any(String) }]);
    expect(upstream.seen).toHaveLength(0);
    expect(await gateway.recordOf(response)).toMatchObject({ outcome: 'rejected', status: 400 });
  });

  it.each(['/a%0d%0aX-Injected:%201', '/a%09b', '/a%0A', '/a%250a', '/%0a.a'])(
    'forwards the sub-path %s unchanged if the route allows encoded control characters',
    async (subPath) => {
      const allowed = { allow_encoded_control_characters: true };
      const { call, upstream } = await setUp('/base', allowed);
      expect((await call(`/v1/proxy/test${subPath}`)).status).toBe(200);
      expect(upstream.seen.map((seen) => seen.url)).toEqual([`/base${subPath}`]);
    },
  );

  it.each([
    ...['/a%00', '/a%0b', '/a%0c', '/a%7f', '/a%1b', '/a%2500'],
    ...['/.%09./admin', '/%0a../admin', '/..%0d/admin', '/%2%0ae%2e/admin', '/.%250d./admin'],
    ...['/%25%0a2e%2e/admin', '/%2e%0d%0a%2e%2fadmin'],
  ])(
    'refuses the sub-path %s even if the route allows encoded control characters',
    async (subPath) => {
      const allowed = { allow_encoded_control_characters: true };
      const { call, upstream } = await setUp('/base', allowed);
      await expectRefusal(await call(`/v1/proxy/test${subPath}`), 400, 'invalid_request');
      expect(upstream.seen).toHaveLength(0);
    },
  );

  it('tells a caller without access nothing about what a route allows in its path', async () => {
    const { gateway, upstream } = await setUp();
    const answer = await rawCall(gateway.port, { target: '/v1/proxy/test/a%0a' });
    await expectRefusal(answer, 401, 'authentication_failed');
    expect(upstream.seen).toHaveLength(0);
  });

  it.each(['/v1/proxy', '/v1/proxy/', '/v1/proxy//', '/v1/proxy/?x'])(
    'answers 404 to %s, which contains no route name',
    async (target) => {
      const { call } = await setUp();
      await expectRefusal(await call(target), 404, 'not_found');
    },
  );

  it.each(['/v1/proxy/te%73t', '/v1/proxy/TEST', '/v1/proxy/..', '/v1/proxy/constructor'])(
    'uses the route name of %s as it was sent, which does not exist',
    async (target) => {
      const { call } = await setUp();
      await expectRefusal(await call(target), 404, 'route_not_found');
    },
  );
});
