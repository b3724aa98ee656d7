import { describe, expect, it } from '@jest/globals';
import { rewriteField } from '@gateway/shared/definitions/route-rewrite';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { startUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath } from '../../../test/data-path.ts';
import { startJwtRoute } from '../../../test/jwt-route.ts';
import type { z } from 'zod';

const opened = closeAfterEach();

const below = (...prefixes: string[]): SnapshotRoute['match'] => [
  { hosts: [], paths: prefixes.map((prefix) => ({ prefix })), headers: [] },
];

/** The targets that the upstream gets, or the status and the message of the refusal. */
async function setUp(
  rewrite: z.input<typeof rewriteField>,
  route: Partial<SnapshotRoute> = {},
  basePath = '',
) {
  const upstream = opened(await startUpstream());
  const gateway = opened(
    await startTestDataPath({
      upstreams: [upstream.url + basePath],
      auth: { type: 'none' },
      rewrite: rewriteField.parse(rewrite),
      ...route,
    }),
  );
  return async (target: string) => {
    const connection = opened(await rawConnection(gateway.port));
    connection.send(requestText({ target, lines: ['Host: api.test'] }));
    const { status, headers } = await connection.response();
    const record = await gateway.recordOf(headers.get('x-request-id') ?? '');
    if (status === 200) expect(record).toMatchObject({ path: target.replace(/\?.*/, '') });
    return status === 200 ? upstream.seen.at(-1)?.url : status;
  };
}

describe('strip_prefix', () => {
  const match = below('/api', '/api/v2');

  it('takes the segments from the path as it was sent, and nothing else', async () => {
    const call = await setUp({ strip_prefix: '/api' }, { match });
    expect(await call('/api/a%2fb/%7Ec//d/?x=%2f&&+')).toBe('/a%2fb/%7Ec//d/?x=%2f&&+');
    expect(await call('/%61pi/x')).toBe('/x');
    expect(await call('//./api/./x')).toBe('/./x');
    expect(await call('/api')).toBe('/');
    expect(await call('/api?')).toBe('/?');
    expect(await call('/api/')).toBe('/');
    expect(await call('/api//other.test/x')).toBe('/other.test/x');
  });

  it('leaves what follows the name of the route, whose path stands for the prefix', async () => {
    const call = await setUp({ strip_prefix: '/api' }, { match });
    expect(await call('/v1/proxy/test/api/x')).toBe('/api/x');
    expect(await call('/v1/proxy/test/v2/x?y')).toBe('/v2/x?y');
    expect(await call('/v1/proxy/test')).toBe('/');
  });

  it('stays below the path of the service', async () => {
    const call = await setUp({ strip_prefix: '/api' }, { match }, '/base');
    expect(await call('/api//x')).toBe('/base//x');
    expect(await call('/api')).toBe('/base');
    for (const rest of ['/..', '/%2e%2e/x', '/a/..%2f..', '/.%5c..', '/..;/x']) {
      expect(await call(`/api${rest}`)).toBe(400);
    }
    // After the prefix is gone, this begins as the path of another host might.
    expect(await call('/api/.//x')).toBe(400);
    expect(await call('/api/.;/x')).toBe(400);
  });

  it('takes the prefix of an exact path as well', async () => {
    const paths = [{ exact: '/api/status' }, { exact: '/api' }];
    const call = await setUp(
      { strip_prefix: '/api' },
      { match: [{ hosts: [], paths, headers: [] }] },
    );
    expect(await call('/api/status')).toBe('/status');
    expect(await call('/api')).toBe('/');
  });
});

describe('add_prefix', () => {
  it('comes before the path, within that of the service', async () => {
    const call = await setUp({ add_prefix: '/v3/{route.name}' }, { match: below('/a') }, '/base');
    expect(await call('/a/b%2F?c')).toBe('/base/v3/test/a/b%2F?c');
    expect(await call('/v1/proxy/test/b')).toBe('/base/v3/test/b');
    expect(await call('/v1/proxy/test')).toBe('/base/v3/test');
  });

  it('replaces the prefix that is stripped', async () => {
    const rewrite = { strip_prefix: '/api', add_prefix: '/v3' };
    const call = await setUp(rewrite, { match: below('/api') });
    expect(await call('/api/x')).toBe('/v3/x');
    expect(await call('/api//x')).toBe('/v3//x');
  });
});

describe('path', () => {
  it('is the whole path; the query stays', async () => {
    const call = await setUp({ path: '/one' }, { match: below('/a') }, '/base');
    expect(await call('/a/b?c=%2f')).toBe('/base/one?c=%2f');
    expect(await call('/v1/proxy/test/x')).toBe('/base/one');
  });

  it('may have the rest of the path, which is that of the way that took the request', async () => {
    const hosts = ['api.test'];
    const match = [
      { hosts, paths: [{ prefix: '/a/b' }, { exact: '/e' }], headers: [] },
      ...below('/a'),
    ];
    const call = await setUp({ path: '/r/{path.rest}' }, { match });
    expect(await call('/a/b/c%2fd?q')).toBe('/r/c%2fd?q');
    expect(await call('/a/%62//c')).toBe('/r//c');
    expect(await call('/a/b')).toBe('/r/');
    expect(await call('/e')).toBe('/r/');
    expect(await call('/v1/proxy/test/a/b')).toBe('/r/a/b');
  });

  it('never begins as that of another host', async () => {
    const call = await setUp({ path: '/{path.rest}' }, { match: below('/a') });
    expect(await call('/a//other.test')).toBe('/other.test');
    expect(await call('/a/.//other.test')).toBe(400);
  });

  it('has no claim that leaves it', async () => {
    const rewrite = rewriteField.parse({ path: '/tenants/{jwt.claims.tenant}/{path.rest}' });
    const auth = { required_claims: [{ name: 'tenant', values: null }] };
    const { callWith, upstream } = await startJwtRoute(opened, auth, { rewrite });
    for (const tenant of ['..', '.', '', 'a/../b', '..\\', '../', ['a'], null, 'a\nb', 1e300]) {
      const response = await callWith({ tenant });
      expect([tenant, response.status]).toEqual([tenant, 400]);
      expect(await response.text()).toContain('path');
    }
    expect(upstream.seen).toHaveLength(0);
    expect((await callWith({ tenant: 'a/b c' })).status).toBe(200);
    expect((await callWith({ tenant: 7 })).status).toBe(200);
    expect(upstream.seen.map(({ url }) => url)).toEqual(['/tenants/a%2Fb%20c/', '/tenants/7/']);
  });
});

it('leaves path and query as they were sent if it changes only other parts', async () => {
  const rewrite = { host: 'preserve', request_headers: { remove: ['X-Debug'] } };
  const call = await setUp(rewrite, { match: below('/') }, '/base');
  const target = "/a%2fB/%7E//./x;y=(z)'!$&*,+:@?q=%2f&&r=+&s='()*";
  expect(await call(target)).toBe(`/base${target}`);
});
