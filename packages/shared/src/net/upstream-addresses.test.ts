import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  isDeniedAddress,
  DEFAULT_UPSTREAM_DENY_CIDRS,
  METADATA_CIDRS,
  parseAddressRanges,
  refuseUpstreamUrl,
} from './upstream-addresses.ts';

/** The ways in which IPv6 carries an IPv4 address, the public prefixes of translators among them. */
function embeddings(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const hex = (high: number, low: number) => (high * 256 + low).toString(16);
  const [high, low] = [hex(a, b), hex(c, d)];
  const inverted = [hex(255 - a, 255 - b), hex(255 - c, 255 - d)].join(':');
  return [
    `::ffff:${high}:${low}`,
    `0:0:0:0:0:FFFF:${high}:${low}`,
    `::ffff:0:${high}:${low}`,
    `64:ff9b::${high}:${low}`,
    `64:ff9b:1::${high}:${low}`,
    `2002:${high}:${low}::1`,
    `2001:0:${high}:${low}::1`,
    `2001:0:102:304:0:0:${inverted}`,
    `2001:db8::5efe:${high}:${low}`,
    `2001:db8::200:5efe:${high}:${low}`,
    `::${high}:${low}`,
  ];
}

/** Hosts of URLs that all lead to one IPv4 address. */
function waysToWrite(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const parts = [a, b, c, d];
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const hexadecimal = number.toString(16);
  return [
    address,
    `${address}.`,
    String(number),
    `0x${hexadecimal}`,
    `0X${hexadecimal}`,
    `0${number.toString(8)}`,
    `000${number.toString(8)}`,
    `0x000${hexadecimal}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    parts.map((part) => `0${part.toString(8)}`).join('.'),
    parts.map((part) => `0x${part.toString(16)}`).join('.'),
    `0x${a.toString(16)}.0${b.toString(8)}.${c * 256 + d}`,
    address.replaceAll('.', '%2e'),
    address.replaceAll('.', '\u3002'),
    address.replaceAll('.', '\uff0e'),
    address.replaceAll('1', '%31'),
    // Digits of another width, which URL turns into plain ones.
    address.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    ...embeddings(address).map((form) => `[${form}]`),
    `[::ffff:${address}]`,
    `[::${address}]`,
    `[64:ff9b::${address}]`,
  ];
}

const deny = parseAddressRanges(DEFAULT_UPSTREAM_DENY_CIDRS);

describe('an upstream URL', () => {
  it.each([
    'http://api.internal',
    'https://api.internal:8443/base/path',
    'http://10.0.0.1:8080',
    'http://[fd12::1]:80',
    'http://localhost.example',
    'http://notlocalhost',
    'http://127.0.0.1.example',
    'http://[64:ff9b::8.8.8.8]',
    'http://[64:ff9b:1::8.8.8.8]',
    'http://[2002:808:808::1]',
  ])('%s is accepted', (url) => {
    expect(refuseUpstreamUrl(url, deny)).toBeUndefined();
  });

  it.each([
    ['no URL', 'api.internal'],
    ['no slashes', 'http:api.internal'],
    ['no host', 'http:///api.internal'],
    ['port 0', 'http://api.internal:0'],
    ['another scheme', 'ftp://api.internal'],
    ['user info', 'http://user:pass@api.internal'],
    ['user info that is empty', 'http://@api.internal'],
    ['a name with an empty part', 'http://localhost..'],
    ['a name with an empty part in the middle', 'http://api..internal/base'],
    ['an address with an empty part', 'http://127.0.0.1..'],
    ['a name of dots', 'http://.'],
    ['a name that begins with a dot', 'http://.localhost'],
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

  it.each([
    ['10.0.0.5:3000', 'must be an absolute URL, such as https://api.example.com'],
    ['http://user:pass@api.internal', 'must not have a user name or password'],
  ])('%s is refused with the rule: %s', (url, rule) => {
    expect(refuseUpstreamUrl(url, deny)).toBe(rule);
  });

  it.each(['127.0.0.1', '169.254.169.254'])(
    'is refused in every way to write %s, in any scheme and with any port',
    (target) => {
      const forms = waysToWrite(target);
      expect(forms.length).toBeGreaterThanOrEqual(25);
      const taken = forms
        .flatMap((host) => [`http://${host}/`, `https://${host}:8443/base`])
        .filter((url) => refuseUpstreamUrl(url, deny) === undefined);
      expect(taken).toEqual([]);
    },
  );

  it.each(['localhost', 'localhost.', 'LOCALHOST', 'api.localhost', 'a.b.localhost.'])(
    'with the name %s is refused where loopback is, as no resolver has a say in it',
    (name) => {
      expect(refuseUpstreamUrl(`http://${name}:80/`, deny)).toContain('must not be at');
      const local = parseAddressRanges(METADATA_CIDRS);
      expect(refuseUpstreamUrl(`http://${name}:80/`, local)).toBeUndefined();
    },
  );

  it('is refused with a zone, which only has a meaning on this machine', () => {
    for (const zone of ['%25eth0', '%eth0', '%251']) {
      expect(refuseUpstreamUrl(`http://[fe80::1${zone}]/`, deny)).toContain('must');
    }
  });

  /** Without zeros, as those could as well be the rest of another embedding. */
  const octets = fc.array(fc.integer({ min: 1, max: 255 }), { minLength: 4, maxLength: 4 });

  it('is refused for every address of a range, in any IPv6 form', () => {
    fc.assert(
      fc.property(octets, (parts) => {
        const address = parts.join('.');
        const forms = [address, ...embeddings(address)];
        const expected = deny.has(address);
        expect(forms.map((form) => isDeniedAddress(form, deny))).toEqual(forms.map(() => expected));
      }),
    );
    fc.assert(
      fc.property(fc.nat(0xff), fc.nat(0xff), (third, fourth) => {
        for (const form of embeddings(`169.254.${third}.${fourth}`)) {
          expect(isDeniedAddress(form, deny)).toBe(true);
        }
      }),
    );
  });

  it('is refused with the address at any position of a network-specific NAT64 prefix', () => {
    fc.assert(
      fc.property(octets, ([a = 0, b = 0, c = 0, d = 0]) => {
        const address = parseAddressRanges([`${a}.${b}.${c}.${d}`]);
        const hex = (high: number, low: number) => (high * 256 + low).toString(16);
        const forms = [
          `64:ff9b:1:${hex(a, b)}:${hex(0, c)}:${hex(d, 0)}::`,
          `64:ff9b:1:${hex(1, a)}:${hex(0, b)}:${hex(c, d)}::`,
          `64:ff9b:1:1:${hex(0, a)}:${hex(b, c)}:${hex(d, 0)}:0`,
          `64:ff9b:1:1:1:1:${hex(a, b)}:${hex(c, d)}`,
        ];
        expect(forms.filter((form) => !isDeniedAddress(form, address))).toEqual([]);
      }),
    );
  });

  it('may be on loopback if the operator allows it', () => {
    const local = parseAddressRanges(METADATA_CIDRS);
    expect(refuseUpstreamUrl('http://127.0.0.1:9000', local)).toBeUndefined();
  });
});
