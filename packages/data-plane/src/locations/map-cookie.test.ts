import { expect, it } from '@jest/globals';
import { mapCookie } from './map-cookie.ts';
import { routeAddresses } from './route-addresses.ts';

const UPSTREAM = { origin: 'http://docs.internal.example', host: '', basePath: '' };

it.each([
  ['docs.internal.example', 'shop.test', true],
  ['.DOCS.internal.example', 'shop.test', true],
  ['internal.example', 'shop.test', true],
  ['docs.rewritten.example', 'shop.test', true],
  ['ocs.internal.example', 'shop.test', false],
  ['other.internal.example', 'shop.test', false],
  ['shop.test', 'shop.test', false],
  // It covers the host of the caller too, so a browser takes it.
  ['internal.example', 'www.internal.example:8443', false],
  ['example', 'Internal.EXAMPLE', false],
])(
  'the domain %s of a cookie is removed for a caller of %s: %s',
  (domain, authority, isRemoved) => {
    const addresses = routeAddresses({ scheme: 'https', authority, prefix: '' }, [UPSTREAM]);
    const hosts = ['docs.internal.example', 'docs.rewritten.example'];
    const cookie = `a=1; Domain=${domain}; Secure`;
    const reached = { isAtPrefix: false, isByName: false };
    expect(mapCookie(cookie, addresses, hosts, reached)).toBe(isRemoved ? 'a=1; Secure' : cookie);
  },
);
