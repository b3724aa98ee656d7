import { describe, expect, it } from '@jest/globals';
import {
  DEFAULT_UPSTREAM_DENY_CIDRS,
  METADATA_CIDRS,
  parseAddressRanges,
  refuseUpstreamUrl,
} from './upstream-addresses.ts';

const deny = parseAddressRanges(DEFAULT_UPSTREAM_DENY_CIDRS);

describe('an upstream URL', () => {
  it.each([
    'http://api.internal',
    'https://api.internal:8443/base/path',
    'http://10.0.0.1:8080',
    'http://[fd12::1]:80',
  ])('%s is taken', (url) => {
    expect(refuseUpstreamUrl(url, deny)).toBeUndefined();
  });

  it.each([
    ['no URL', 'api.internal'],
    ['no slashes', 'http:api.internal'],
    ['no host', 'http:///api.internal'],
    ['port 0', 'http://api.internal:0'],
    ['another scheme', 'ftp://api.internal'],
    ['user info', 'http://user:pass@api.internal'],
    ['a fragment', 'http://api.internal/#x'],
    ['a query', 'http://api.internal/?x=1'],
    ['the metadata service', 'http://169.254.169.254/latest'],
    ['the metadata service in decimal', 'http://2852039166/'],
    ['the metadata service in octal', 'http://0251.0376.0251.0376/'],
    ['the metadata service inside IPv6', 'http://[::ffff:169.254.169.254]/'],
    ['the metadata service of Alibaba', 'http://100.100.100.200/'],
    ['the metadata service of Azure', 'http://168.63.129.16/'],
    ['the metadata service of Oracle', 'http://192.0.0.192/'],
    ['link-local IPv6', 'http://[fe80::1]/'],
    ['loopback', 'http://127.0.0.1:9000'],
    ['loopback in short form', 'http://127.1'],
    ['loopback IPv6', 'http://[::1]:9000'],
    ['the unspecified address', 'http://0.0.0.0'],
  ])('with %s is refused', (_case, url) => {
    expect(refuseUpstreamUrl(url, deny)).toEqual(expect.stringContaining('must'));
  });

  it('may be on loopback where the operator allows it', () => {
    const local = parseAddressRanges(METADATA_CIDRS);
    expect(refuseUpstreamUrl('http://127.0.0.1:9000', local)).toBeUndefined();
  });
});
