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

// test/conformance has the paths that are forwarded unchanged, and those that are refused.
describe('paths', () => {
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

  it('that leave the base are refused, the error names the path, and they have a record', async () => {
    const { call, upstream, gateway } = await setUp();
    const response = await call('/v1/proxy/test/..');
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
});
