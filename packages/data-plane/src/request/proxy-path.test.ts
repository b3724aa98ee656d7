import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  ENCODED_CONTROL,
  parseProxyTarget,
  refuseSubPath,
  splitTarget,
  upstreamPath,
} from './proxy-path.ts';

describe('splitTarget', () => {
  it.each([
    ['/v1/proxy/a?x=1?y', '/v1/proxy/a', '?x=1?y'],
    ['/v1/proxy/a', '/v1/proxy/a', ''],
    ['http://gateway:8080/v1/proxy/a?x', '/v1/proxy/a', '?x'],
    ['HTTP://gateway', '/', ''],
    ['http://gateway?x', '/', '?x'],
    ['*', '*', ''],
  ])('%s', (target, path, query) => {
    expect(splitTarget(target)).toEqual({ path, query });
  });
});

describe('parseProxyTarget', () => {
  it.each([
    ['/v1/proxy/pay', 'pay', ''],
    ['/v1/proxy/pay/', 'pay', '/'],
    ['/v1/proxy/pay/a//b', 'pay', '/a//b'],
    ['/v1/proxy/', '', ''],
  ])('%s', (path, routeName, subPath) => {
    expect(parseProxyTarget(path, '')).toMatchObject({ routeName, subPath });
  });
});

describe('upstreamPath', () => {
  it('appends the sub-path and the query to the base', () => {
    expect(upstreamPath('', '', '')).toBe('/');
    expect(upstreamPath('', '', '?a')).toBe('/?a');
    expect(upstreamPath('/base', '/x', '?a=1')).toBe('/base/x?a=1');
    expect(upstreamPath('/base', '', '')).toBe('/base');
  });
});

describe('refuseSubPath', () => {
  it.each([
    '/..',
    '/../x',
    '/a/../../b',
    '/./a',
    '/a/.',
    '/%2e%2e/x',
    '/%2E./x',
    '/.%2e',
    '/%252e%252e/x',
    '/%25252e%25252e/x',
    '/a%2f..%2fb',
    '/a%5c..%5cb',
    '/a\\..\\b',
    '/..;/x',
    '/..;v=1/x',
    '/%2e%2e%3bv/x',
    '/%c0%ae%c0%ae/x',
    '/%e0%80%ae/x',
    '/%f0%80%80%ae/x',
    '/a%00',
    '/a%0d%0aX-Injected:1',
    '/a%250a',
    '/%zz',
    '/a%',
  ])('refuses %s', (path) => {
    expect(refuseSubPath(path)).toEqual(expect.any(String));
  });

  it.each([
    '',
    '/',
    '/a/b.c/...',
    '/.well-known/x',
    '/a%20b',
    '/a%2fb',
    '/caf%C3%A9',
    '/%E2%82%AC',
    '/a;v=1/b',
    '/a..b/..c/d..',
    '/100%25',
  ])('accepts %s', (path) => {
    expect(refuseSubPath(path)).toBeUndefined();
  });

  it.each([false, true])(
    'refuses every sub-path that leaves the base after any number of decodings, with controls removed: %s',
    (removesControls) => {
      const piece = fc.constantFrom(
        '.',
        '..',
        '%2e',
        '%252e',
        '/',
        '%2f',
        '%5c',
        '\\',
        ';',
        'a',
        '%25',
        '%0a',
        '%2509',
      );
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
          const subPath = `/${pieces.join('')}`;
          if (![undefined, ENCODED_CONTROL].includes(refuseSubPath(subPath))) return;
          let text = subPath;
          for (let decodings = 0; decodings < 5; decodings += 1) {
            if (removesControls) text = text.replace(/[\t\n\r]/g, '');
            expect(text.split(/[/\\]/).map((segment) => segment.split(';')[0])).not.toContain('..');
            text = text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) =>
              String.fromCharCode(Number.parseInt(hex, 16)),
            );
          }
        }),
        { numRuns: 2000 },
      );
    },
  );
});
