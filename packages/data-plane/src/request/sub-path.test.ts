import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodedPath, SERVERS, type Server } from '../../test/path-servers.ts';
import { decodeToTheEnd } from '@gateway/shared/http/sub-path/path-bytes';
import { readPath } from '@gateway/shared/http/sub-path/path-readings';
import { refuseSubPath } from './proxy-path.ts';

describe('refuseSubPath', () => {
  it.each([
    '/..',
    '/../x',
    '/a/../../b',
    '/%2e%2e/x',
    '/%2E./x',
    '/.%2e',
    '/%252e%252e/x',
    '/%25252e%25252e/x',
    '/%2525252525252e./x',
    '/a%2f..%2fb',
    '/a%5c..%5cb',
    '/a\\..\\b',
    '/..;/x',
    '/..;v=1/x',
    '/.;/x',
    '/%2e%2e%3bv/x',
    '/..%20',
    '/..%20./x',
    '/.%20./x',
    '/..%00/x',
    '/%c0%ae%c0%ae/x',
    '/%c0%2e%c0%2e/x',
    '/%c0%ee%c0%6e/x',
    '/..%c1%1cx',
    '/..%c1%9cx',
    '/..%c0%80/x',
    '/..%c0%bbv/x',
    '/.%c0%8a./x',
    '/%c0%a52e%c0%a52e/x',
    '/%e0%80%ae%e0%80%ae/x',
    '/%e0%40%ae./x',
    '/%f0%80%80%ae./x',
    '/%f8%80%80%80%ae./x',
    '/%fc%80%80%80%80%ae./x',
    '/%fe%80%80%80%80%80%ae./x',
    '/.%ff./x',
    '/..%ff/x',
    '/.%25ff./x',
    '/%ef%bc%8e%ef%bc%8e/x',
    '/%e2%80%a5/x',
    '/..%c2%a5x',
    '/..%e2%88%95x',
    '/%ef%bc%85%32%65./x',
    '/%25u002e%25u002e/x',
    '/.%25uff0e/x',
    '/.//x',
    '/%2e%2f%2fx',
    '//.//x',
    '/.//',
    '/./;/x',
    '/.%25c0%c0%ee/x',
    '/%252e%c0%ae%ff/x',
    '/.%E0@%25ff./x',
    '/a%25%ff2f../x',
    '/a%25%ff00',
    '/a%00',
    '/a%0d%0aX-Injected:1',
    '/a%250a',
    '/%zz',
    '/a%',
  ])('refuses %s', (path) => {
    expect(refuseSubPath(path)).toEqual(expect.any(String));
  });

  it.each([
    ...['', '/', '/a/b.c/...', '/.well-known/x', '/a%20b', '/a%2fb', '/caf%C3%A9', '/%E2%82%AC'],
    ...['/a;v=1/b', '/a..b/..c/d..', '/100%25', '/.', '/./', '/./a', '/a/./b', '/a/.', '/.%2f'],
    ...['/.%23x', '/a/.%3fx', '/.%20', '/Fl%F6te', '/%FF', '/%ff/%fe', '/%C0%EE%CA%C0%C3%F1'],
    ...['/%E4%AF%C0%C0', '/%82%B1%82%F1', '/a%25ffb', '/%25zz', '/a%2525252525', '/a//b', '//'],
    // GBK has lead bytes of overlong characters, and Shift_JIS backslashes.
    ...['/%C0%EE%B4%F3%C0%EE', '/%C0%EE.%CE%C4.txt', '/a/.%8E%91/%95%5C.txt', '/%25u4E2D%25u6587'],
    ...['/50%ef%bc%8520', '/.%25foo', '/./%23name%23', '/%253%253%253%253%253%253%253%2535'],
    ...['/a%ef%bc%8fb', '/%c2%a5100', '/a%C0%AFb', '/%ff..a', '/x/.//y', '/a%20..b'],
  ])('accepts %s', (path) => {
    expect(refuseSubPath(path)).toBeUndefined();
  });

  it.each([
    ...['a', '/.', '/.a', '%2e/', '/. a', '%41', '%25', '%2525', '%253', '%252%35', '%u0041'],
    ...['%C3%A9', '%C0', '%FE%80', '%E0@', '.%FF', '/.%ff', '%25C0%C0', '%e9%e9', '%EF%BC%85'],
    ...['%25u4E2D', '%c0%a5%ff%0a', '/.%ff%0a/.', '%25ef%25bc%258f%ff', '%FC%80%80%80%80'],
  ])('does work in proportion to the length of a path of %s', (piece) => {
    // What ends a path early is not a bound, so each has something that only one reading sees.
    for (const rest of ['', '/35', '/a%ff', '/%25c0%c0', '/%25%ff41', '/%2525252525252541%ff']) {
      const subPath = `${rest}/${piece.repeat(32_000 / piece.length)}`;
      const { steps } = readPath(decodeToTheEnd(subPath));
      expect(steps).toBeLessThan(5 * subPath.length);
    }
  });

  it.each(SERVERS)('accepts no path that leaves the base path of $name', (server) => {
    const pieces = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(pieces, (parts) => {
        const subPath = `/${parts.join('')}`;
        const reason = refuseSubPath(subPath);
        if (reason !== undefined && reason !== 'encodedControl') return;
        expect(leaves(server, subPath)).toBe(false);
      }),
      { numRuns: 3000 },
    );
  });

  it('is checked against servers that a path can leave', () => {
    for (const server of SERVERS)
      expect([server.name, leaves(server, server.escape)]).toEqual([server.name, true]);
  });
});

const DOTS = ['.', '.', '..', '%2e', '%2E', '%252e', '%25252e', '%ef%bc%8e', '%e2%80%a5'];
const SEPARATORS = ['/', '/', '\\', '%2f', '%5c', '%252f', '%ef%bc%8f', '%c2%a5'];
const OVERLONG = [
  '%c0%ae',
  '%c0%af',
  '%c0%2e',
  '%c0%ee',
  '%c1%9c',
  '%c1%1c',
  '%e0%80%ae',
  '%e0%40%ae',
];
const LONGER = ['%f0%80%80%af', '%f8%80%80%80%ae', '%c0%a52e', '%c0%80'];
const ODD = ['%c0', '%ff', '%e0', '%80', '%25c0', '%25ff', '%0a', '%2509', '%20', '%2520'];
const ENDS = [
  '%25u002e',
  '%25u002F',
  ';',
  '%3b',
  '%253b',
  '%23',
  '%3f',
  'a',
  '%25',
  '%32',
  '%65',
  '2',
  'e',
];
const PIECES = [...DOTS, ...SEPARATORS, ...OVERLONG, ...LONGER, ...ODD, ...ENDS];

/** Whether a server that has the service at `/base` would take the path from elsewhere. */
function leaves(server: Server, subPath: string): boolean {
  const resolved: string[] = [];
  for (const segment of decodedPath(server, `/base${subPath}`).split('/')) {
    if (segment === '..') resolved.pop();
    else if (segment !== '.' && segment !== '') resolved.push(segment);
    // A path that leaves and comes back has left.
    if (resolved.length > 0 && resolved[0] !== 'base') return true;
    if (resolved.length === 0 && segment === '..') return true;
  }
  return false;
}
