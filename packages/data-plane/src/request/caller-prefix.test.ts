import { describe, expect, it, test } from '@jest/globals';
import { normalPath } from '@gateway/shared/http/normal-path';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import fc from 'fast-check';
import { afterPrefix, callerPrefix, pathRest } from './caller-prefix.ts';

const KEPT = new URL('./caller-prefix.kept.json', import.meta.url);
const route = { routeId: 'rte_1', routeName: 'orders' };
const wayOf = (prefix: string | undefined) => ({ ...route, host: '', prefix });

describe('what follows a prefix', () => {
  it.each([
    ['/api/x', '/api', '/x'],
    ['/api', '/api', ''],
    ['/api/', '/api', '/'],
    ['/%61pi/x', '/api', '/x'],
    ['//./api//x', '/api', '//x'],
    ['/a/%2e/b%2fc', '/a/b%2Fc', ''],
    ['/api/./x', '/api', '/./x'],
    ['/api//x/%2F', '/', '/api//x/%2F'],
    ['/apis', '/api', undefined],
    ['/api;v=1/x', '/api', undefined],
    ['/x', '/x/y', undefined],
    ['/', '/x', undefined],
  ])('%s without %s is %s', (path, prefix, rest) => {
    expect(afterPrefix(path, prefix)).toBe(rest);
  });

  const segment = fc.constantFrom(
    'a',
    'b',
    'A',
    '%61',
    '%62',
    '.',
    '%2e',
    '',
    '%2f',
    '%2F',
    'a%2E',
  );
  const paths = fc.array(segment, { minLength: 1, maxLength: 6 }).map((all) => `/${all.join('/')}`);

  const fuzz = openFuzz<{ path: string; other: string }>(KEPT, 1000);

  test('is what follows the shortest part with its normal form', () => {
    fc.assert(
      fc.property(fc.record({ path: paths, other: paths }), ({ path, other }) => {
        const prefix = normalPath(other).replace(/(?<=.)\/$/, '');
        const segments = path.split('/');
        const parts = segments.map((_segment, at) => segments.slice(0, at + 1).join('/'));
        const part = parts.slice(1).find((one) => normalPath(one) === prefix);
        const rest = part === undefined ? undefined : path.slice(part.length);
        expect(afterPrefix(path, prefix)).toBe(prefix === '/' ? path : rest);
      }),
      fuzzSettings(fuzz),
    );
  });
});

describe('the rest of a path', () => {
  it('follows the name of the route, or the prefix of its way, without a slash', () => {
    expect(pathRest({ way: undefined, subPath: '/a%20b//c/' })).toBe('a%20b//c/');
    expect(pathRest({ way: undefined, subPath: '' })).toBe('');
    expect(pathRest({ way: wayOf('/v2'), subPath: '/%762/a%2Fb' })).toBe('a%2Fb');
    expect(pathRest({ way: wayOf('/v2'), subPath: '/v2' })).toBe('');
    expect(pathRest({ way: wayOf('/'), subPath: '/v2/x' })).toBe('v2/x');
  });

  it('is empty for an exact path', () => {
    expect(pathRest({ way: wayOf(undefined), subPath: '/v2' })).toBe('');
  });
});

test('the prefix of a caller is what the route strips, or the path that names the route', () => {
  const routeName = 'orders';
  expect(callerPrefix({ way: undefined, routeName }, '/v2')).toBe('/v1/proxy/orders');
  expect(callerPrefix({ way: wayOf('/v2/orders'), routeName }, '/v2')).toBe('/v2');
  expect(callerPrefix({ way: wayOf('/v2/orders'), routeName })).toBe('');
});
