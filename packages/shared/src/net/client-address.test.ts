import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addressGroup,
  clientAddress,
  normaliseAddress,
  parseAddressRanges,
} from './client-address.ts';

const none = parseAddressRanges([]);
const trusted = parseAddressRanges(['127.0.0.1', '10.0.0.0/8', '::1']);

describe('clientAddress', () => {
  it('ignores X-Forwarded-For on a connection that is not from a trusted proxy', () => {
    fc.assert(
      fc.property(fc.ipV4(), (forged) => {
        expect(clientAddress('203.0.113.7', forged, trusted)).toBe('203.0.113.7');
        expect(clientAddress('127.0.0.1', forged, none)).toBe('127.0.0.1');
      }),
    );
  });

  it('is the last address that is not a trusted proxy, whatever the client wrote before it', () => {
    fc.assert(
      fc.property(fc.array(fc.ipV4(), { maxLength: 5 }), (forged) => {
        const chain = [...forged, '203.0.113.7', '10.1.1.1'].join(', ');
        expect(clientAddress('127.0.0.1', chain, trusted)).toBe('203.0.113.7');
      }),
    );
  });

  it.each([
    ['192.0.2.1:4711', '192.0.2.1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
  ])('accepts a hop with brackets or port: %s', (hop, address) => {
    expect(clientAddress('127.0.0.1', `203.0.113.9, ${hop}`, trusted)).toBe(address);
    expect(clientAddress('127.0.0.1', `${hop}, 10.1.1.1:80`, trusted)).toBe(address);
  });

  it('stops at a hop that is not an address', () => {
    expect(clientAddress('127.0.0.1', 'unknown', trusted)).toBe('127.0.0.1');
  });

  it('treats IPv4-mapped IPv6 as IPv4', () => {
    expect(normaliseAddress('::ffff:127.0.0.1')).toBe('127.0.0.1');
    expect(clientAddress('::ffff:127.0.0.1', '192.0.2.1', trusted)).toBe('192.0.2.1');
  });
});

describe('addressGroup', () => {
  it('is the IPv4 address itself, in any notation', () => {
    expect(addressGroup('203.0.113.7')).toBe('203.0.113.7');
    expect(addressGroup('::ffff:203.0.113.7')).toBe('203.0.113.7');
  });

  it('is the /64 network of an IPv6 address', () => {
    expect(addressGroup('2001:db8:1:2::5')).toBe(addressGroup('2001:db8:1:2:ffff::9'));
    expect(addressGroup('2001:db8:1:2::5')).not.toBe(addressGroup('2001:db8:1:3::5'));
  });

  it('leaves text that is not an address unchanged', () => {
    expect(addressGroup('')).toBe('');
  });
});

describe('parseAddressRanges', () => {
  it('names a malformed range', () => {
    expect(() => parseAddressRanges(['10.0.0.0/8', 'nonsense'])).toThrow('nonsense');
  });

  it('matches IPv4-mapped IPv6', () => {
    expect(trusted.has('::ffff:10.9.9.9')).toBe(true);
    expect(trusted.has('11.0.0.1')).toBe(false);
    expect(trusted.has('no address')).toBe(false);
  });
});
