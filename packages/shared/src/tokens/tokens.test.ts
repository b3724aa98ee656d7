import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { covers, grantsScope, reaches } from './scopes.ts';
import {
  createTokenSecret,
  hashTokenSecret,
  hashTokenSecretBytes,
  isTokenSecret,
  presentedTokenSecret,
  withoutTokenSecrets,
} from './secret.ts';

describe('a token secret', () => {
  it('has 256 bits and is recognised', () => {
    const secret = createTokenSecret();
    expect(isTokenSecret(secret)).toBe(true);
    expect(Buffer.from(secret.slice(4), 'base64url')).toHaveLength(32);
    expect(createTokenSecret()).not.toBe(secret);
  });

  it('has the same hash for the lookup and for the store', () => {
    const secret = createTokenSecret();
    expect(hashTokenSecretBytes(secret).toString('hex')).toBe(hashTokenSecret(secret));
  });

  it('is replaced anywhere in a text, and the rest stays unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (parts) => {
        const plain = parts.map((part) => `/${part.replaceAll('gwt_', '')}/`);
        const secrets = plain.map(() => createTokenSecret());
        const text = plain.map((part, index) => part + (secrets[index] ?? '')).join('');
        const expected = plain.map((part) => `${part}[token]`).join('');
        expect(withoutTokenSecrets(text)).toBe(expected);
      }),
    );
    expect(withoutTokenSecrets('/v1/proxy/gwt_short')).toBe('/v1/proxy/gwt_short');
    const secret = createTokenSecret();
    expect(withoutTokenSecrets(secret)).toBe('[token]');
    expect(withoutTokenSecrets(secret.slice(0, -1))).toBe(secret.slice(0, -1));
  });
});

describe('the reach of a token', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c', '*'), { maxLength: 4 });
  const reach = fc.record({ environments: names, routes: names, scopes: names });

  it('never exceeds that of the granting token', () => {
    fc.assert(
      fc.property(reach, reach, fc.constantFrom('a', 'b', 'c', 'd'), (granting, wanted, name) => {
        fc.pre(reaches(granting, wanted));
        for (const part of ['environments', 'routes', 'scopes'] as const) {
          if (covers(wanted[part], name)) expect(covers(granting[part], name)).toBe(true);
        }
      }),
    );
  });

  it('contains the read scopes of its write scopes, and nothing else', () => {
    const reachOf = (scope: string) => ({ environments: ['a'], routes: ['a'], scopes: [scope] });
    for (const [write, read] of [
      ['tokens:write', 'tokens:read'],
      ['config:write', 'config:read'],
      ['config:write', 'audit:read'],
    ] as const) {
      expect(grantsScope([write], read)).toBe(true);
      expect(reaches(reachOf(write), reachOf(read))).toBe(true);
      expect(reaches(reachOf(read), reachOf(write))).toBe(false);
    }
    expect(grantsScope(['services:write'], 'services:read')).toBe(false);
    expect(grantsScope(['routes:write'], 'routes:read')).toBe(false);
  });

  it('does not let a list of names grant the wildcard', () => {
    const all = { environments: ['*'], routes: ['*'], scopes: ['*'] };
    expect(reaches({ ...all, routes: ['a'] }, all)).toBe(false);
    expect(reaches(all, all)).toBe(true);
  });
});

describe('the token secret of an Authorization field', () => {
  const secret = createTokenSecret();
  const basic = (pair: string) => Buffer.from(pair).toString('base64');

  it.each([
    `Bearer ${secret}`,
    `bearer  ${secret} `,
    `Basic ${basic(`git:${secret}`)}`,
    `bAsIc\t ${basic(`:${secret}`)}`,
    `Basic ${basic(`git:${secret}`).replaceAll('=', '')}`,
  ])('is the credential of Bearer or the password of Basic: %#', (field) => {
    expect(presentedTokenSecret(field)).toBe(secret);
  });

  it.each([
    undefined,
    '',
    secret,
    `Bearer ${secret}, Bearer ${secret}`,
    `Bearer ${basic(`git:${secret}`)}`,
    `Basic ${secret}`,
    `Basic ${basic(secret)}`,
    `Basic ${basic(`${secret}:`)}`,
    `Basic ${basic(`git:${secret} `)}`,
    `Basic ${basic(`git:${secret}:x`)}`,
    `Basic ${basic(`${createTokenSecret()}:${secret}`)}`,
    `Basic ${basic(`git:${secret}`)}, Basic ${basic(`git:${secret}`)}`,
    `Digest ${basic(`git:${secret}`)}`,
  ])('is nothing else: %#', (field) => {
    expect(presentedTokenSecret(field)).toBeUndefined();
  });
});
