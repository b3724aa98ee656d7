import { expect, it } from '@jest/globals';
import { mapReference } from './map-reference.ts';
import { callerPath, routeAddresses } from './route-addresses.ts';

it.each([
  ['/v1/proxy/a', '/v1/proxy/a/b', '/v1/proxy/a/b/c', '/v1/proxy/a/c'],
  ['/v1/proxy/a', '/v1/proxy', '/v1/proxy/a/c', '/v1/proxy/a/c'],
  ['/v1/proxy/a', '/v1/proxy', '/v1/proxy/b/c', '/v1/proxy/a/b/c'],
  ['/v1/proxy/a', '/v1/proxy/a', '/v1/proxy/a/c', '/v1/proxy/a/c'],
  // Of a gateway behind this one that knows the prefix.
  ['/v1/proxy/a', '/v1/proxy/a', '/v1/proxy/a/v1/proxy/a/c', '/v1/proxy/a/c'],
])(
  'of the prefix %s and the path of the service %s the longer one is meant by %s',
  (prefix, base, path, mapped) => {
    const caller = { scheme: 'http', authority: 'gw.test', prefix } as const;
    expect(callerPath(path, [base], caller)).toBe(mapped);
  },
);

it.each<['http' | 'https', string, string, string]>([
  // Of an upstream with https: a redirect from https to http, or back, is meant so.
  ['https', 'https://up.test', 'https://gw.test/a', 'https://gw.test/p/a'],
  ['https', 'https://up.test', 'http://gw.test/a', 'http://gw.test/a'],
  ['http', 'https://up.test', 'https://gw.test/a', 'https://gw.test/a'],
  ['http', 'https://up.test', 'https://up.test/a', 'http://gw.test/p/a'],
  ['http', 'https://up.test', 'http://up.test/a', 'http://gw.test/p/a'],
  // Of one that has the host of the caller.
  ['http', 'https://gw.test', 'https://gw.test/a', 'https://gw.test/a'],
  ['https', 'http://gw.test', 'http://gw.test/a', 'https://gw.test/p/a'],
])('for a caller by %s the upstream %s means by %s: %s', (scheme, origin, written, mapped) => {
  const caller = { scheme, authority: 'gw.test', prefix: '/p' };
  const { host } = new URL(origin);
  const addresses = routeAddresses(caller, [{ origin, host, basePath: '' }]);
  expect(mapReference(written, addresses)).toBe(mapped);
});
