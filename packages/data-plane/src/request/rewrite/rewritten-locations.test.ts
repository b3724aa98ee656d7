import { describe, expect, it } from '@jest/globals';
import { rewriteField } from '@gateway/shared/definitions/route-rewrite';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { closeAfterEach } from '@gateway/shared/test/opened';
import type { z } from 'zod';
import { BY_NAME, startMappedRoute, valuesOf } from '../../../test/mapped-route.ts';

const opened = closeAfterEach();

const below = (prefix: string): SnapshotRoute['match'] => [
  { hosts: ['api.test'], paths: [{ prefix }], headers: [] },
];
const HOST = 'Host: api.test';
const PREFIX = '/v1/proxy/test';

async function setUp(rewrite: z.input<typeof rewriteField>, match = below('/shop')) {
  const mapped = opened(
    await startMappedRoute({
      basePath: '/base',
      route: { match, rewrite: rewriteField.parse(rewrite) },
    }),
  );
  const { answer, heads } = mapped;
  /** What the caller gets under a name for what the upstream writes, by host and path and by name. */
  const both = async (name: string, value: string, target: string) => {
    const lines = [`${name}: ${value}`];
    const byHost = await answer(lines, { target, lines: [HOST] });
    const byName = await answer(lines, BY_NAME);
    return [byHost, byName].map((response) => valuesOf(response, name.toLowerCase())[0]);
  };
  return { answer, both, heads };
}

describe('with a prefix that is stripped and one that is added', () => {
  const rewrite = { strip_prefix: '/shop', add_prefix: '/v2' };

  it.each([
    ['/base/v2/a', '/shop/a', `${PREFIX}/a`],
    ['/base/v2', '/shop', PREFIX],
    ['http://{up}/base/v2/a?b', 'http://api.test/shop/a?b', `http://gateway.test${PREFIX}/a?b`],
    ['http://api.test/base/v2/a', 'http://api.test/shop/a', 'http://api.test/base/v2/a'],
    ['/shop/a', '/shop/a', '/shop/a'],
    ['/shop/base/v2/a', '/shop/a', '/shop/base/v2/a'],
    ['/base/a', '/base/a', '/base/a'],
    ['a', 'a', 'a'],
  ])('%s is mapped', async (written, byHost, byName) => {
    const { both } = await setUp(rewrite);
    expect(await both('Location', written, '/shop/docs/1')).toEqual([byHost, byName]);
  });

  it('cookies are those of the route, and the upstream learns of the prefix', async () => {
    const { both, heads } = await setUp(rewrite);
    expect(await both('Set-Cookie', 'a=1; Path=/base', '/shop/docs/1')).toEqual([
      ...['a=1; Path=/shop', `a=1; Path=${PREFIX}`],
    ]);
    for (const target of ['/shop', '/%73hop', '//shop', '/./shop']) {
      const [atPrefix] = await both('Set-Cookie', 'a=1', target);
      expect(atPrefix).toBe('a=1; Path=/shop');
    }
    const prefixes = heads.map((head) => /^x-forwarded-prefix: (.*)\r$/im.exec(head)?.[1]);
    expect(prefixes.slice(0, 2)).toEqual(['/shop', PREFIX]);
  });
});

it('the host that the upstream is sent is an address of it', async () => {
  const { both } = await setUp({ host: 'inner.test:81' });
  const target = '/shop/1';
  expect(await both('Location', 'http://inner.test:81/base/a', target)).toEqual([
    ...['http://api.test/a', `http://gateway.test${PREFIX}/a`],
  ]);
  expect(await both('Set-Cookie', 'a=1; Domain=inner.test', target)).toEqual(['a=1', 'a=1']);
  const kept = await setUp({ host: 'preserve' });
  expect(await kept.both('Location', 'http://api.test/base/a', target)).toEqual([
    ...['http://api.test/a', 'http://api.test/base/a'],
  ]);
});

it('with one path in place of all others only cookies are mapped', async () => {
  const { both } = await setUp({ path: '/one/{path.rest}' });
  const target = '/shop/docs/1';
  for (const written of ['/base/one/a', '/base/one/docs/1', 'http://{up}/base/one/a']) {
    const [byHost, byName] = await both('Location', written, target);
    expect([byHost, byName]).toEqual([byName, byName]);
    expect(byName).toMatch(/base\/one/);
  }
  for (const path of ['/', '/base', '/base/one']) {
    expect(await both('Set-Cookie', `a=1; Path=${path}`, target)).toEqual([
      ...['a=1; Path=/', `a=1; Path=${PREFIX}`],
    ]);
  }
});

it('a slash at the end of the one path leaves cookies below it those of the route', async () => {
  const { both } = await setUp({ path: '/one/' });
  expect(await both('Set-Cookie', 'a=1; Path=/base/one/a', '/shop/docs/1')).toEqual([
    ...['a=1; Path=/a', `a=1; Path=${PREFIX}/a`],
  ]);
});

it('the path of the service is that of each request, whatever one came before', async () => {
  const { answer } = await setUp({ path: '/one/{path.rest}' });
  for (const rest of ['a', 'b']) {
    const request = { target: `/shop/${rest}`, lines: [HOST] };
    const response = await answer([`Set-Cookie: a=1; Path=/base/one/${rest}/c`], request);
    expect(valuesOf(response, 'set-cookie')).toEqual(['a=1; Path=/c']);
  }
});
