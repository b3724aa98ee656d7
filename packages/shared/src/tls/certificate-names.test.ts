import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createTestAuthority } from '../../test/certificates.ts';
import { CertificateNames } from './certificate-names.ts';

const authority = createTestAuthority('names');

function namesOf(...names: string[]): CertificateNames {
  return new CertificateNames(new X509Certificate(authority.issue(names).certPem));
}

describe('a certificate covers', () => {
  it('its names, in any case, and no others', () => {
    const names = namesOf('API.example.com', 'b.test');
    expect(names.covers('api.example.com')).toBe(true);
    expect(names.covers('b.test')).toBe(true);
    for (const other of ['example.com', 'x.api.example.com', 'b.test.evil', '', 'b']) {
      expect({ other, covered: names.covers(other) }).toEqual({ other, covered: false });
    }
  });

  it('exactly one label below a wildcard', () => {
    const names = namesOf('*.example.com');
    expect(names.covers('a.example.com')).toBe(true);
    for (const other of ['example.com', 'a.b.example.com', '.example.com', 'aexample.com']) {
      expect({ other, covered: names.covers(other) }).toEqual({ other, covered: false });
    }
  });

  it('nothing by a wildcard that is not the whole first label', () => {
    const names = namesOf('a*.example.com', 'x.*.example.com', '*', '*.*.test');
    expect([...names.dns]).toEqual([]);
    for (const host of ['ab.example.com', 'x.a.example.com', 'b.test', 'a.b.test']) {
      expect({ host, covered: names.covers(host) }).toEqual({ host, covered: false });
    }
  });

  it('its addresses, however they are written', () => {
    const names = namesOf('127.0.0.1', '::1');
    for (const host of ['127.0.0.1', '[::1]', '[0:0::1]']) expect(names.covers(host)).toBe(true);
    for (const host of ['127.0.0.2', '[::2]']) expect(names.covers(host)).toBe(false);
  });

  it('no name of its subject, and none that an entry only contains', () => {
    expect(namesOf().covers('names')).toBe(false);
    const names = namesOf('a.test, DNS:evil.test', 'x", DNS:worse.test', 'good.test');
    expect([...names.dns]).toEqual(['good.test']);
  });
});
