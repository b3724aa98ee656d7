import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isHostOf } from './route-hosts.ts';
import { MAX_SENT_BYTES, sendInputSchema, targetOf } from './send-input.ts';

const whole = { route_id: 'rte_x', method: 'GET', token: 'none' };
const accepts = (given: object) => sendInputSchema.safeParse({ ...whole, ...given }).success;
const base64 = (bytes: number) => Buffer.alloc(bytes, 1).toString('base64');

describe('what the console may send', () => {
  it.each([
    { path: '' },
    { path: '/' },
    { path: '/a//b/%2F;x=1/.well-known/...' },
    { query: 'a=../..&b=?' },
    {
      headers: [
        ['X-A', ''],
        ['X-A', 'a b\tc'],
        ['Cookie', 'a=b'],
        ['Authorization', 'Basic eDp5'],
      ],
    },
    { body: base64(MAX_SENT_BYTES) },
    { method: 'PURGE' },
  ])('is accepted: %j', (given) => {
    expect(accepts(given)).toBe(true);
  });

  it.each([
    ['a path that leaves the route', ['/..', '/../x', '/a/../../../console', '/.', '/./x']],
    [
      'an escaped one',
      ['/%2e%2e/x', '/%2E./x', '/a%2f..%2fx', '/a%5C..%5Cx', '/..;x/y', '/..%3bx/y', '/a\\..\\b'],
    ],
    [
      'another form of a target',
      ['x', '*', 'http://elsewhere.example/', '//x y', '/a?b', '/a#b', '/é'],
    ],
    ['another line', ['/a\r\nHost: x', '/a\n', '/a HTTP/1.1', '/\0']],
  ])('is refused: %s', (_what, paths) => {
    for (const path of paths) expect([path, accepts({ path })]).toEqual([path, false]);
  });

  it.each([
    'Connection',
    'Keep-Alive',
    'Transfer-Encoding',
    'Content-Length',
    'Upgrade',
    'TE',
    'Trailer',
    'Expect',
    'Host',
    'X-Gateway-Environment',
    'X_Gateway_Environment',
    'X-Forwarded-For',
    'X_Forwarded_For',
    'X-Forwarded-Anything',
    'Forwarded',
    'Via',
    'X-Real-IP',
    '',
    'a b',
    'a:b',
    'a\r\nb',
    'é',
  ])('is refused: the header %j', (name) => {
    expect(accepts({ headers: [[name, 'x']] })).toBe(false);
    expect(accepts({ headers: [[name.toUpperCase(), 'x']] })).toBe(false);
  });

  it('has no value of a header that could be more than one line', () => {
    const odd = fc.string({
      unit: fc.constantFrom('a', ' ', '\r', '\n', '\0', '\x7f', '\t', 'é', '€'),
      maxLength: 6,
    });
    fc.assert(
      fc.property(odd, (value) => {
        const isPlain = /^[a\té ]*$/.test(value) && value.trim() === value;
        expect(accepts({ headers: [['X-A', value]] })).toBe(isPlain);
      }),
      { seed: 104 },
    );
  });

  it.each([
    { body: base64(MAX_SENT_BYTES + 1) },
    { body: 'no base64!' },
    { body: 'YQ' },
    { headers: Array.from({ length: 101 }, () => ['X-A', '1']) },
    { headers: [['X-A', 'x'.repeat(17_000)]] },
    { path: `/${'x'.repeat(8192)}` },
    { query: 'a b' },
    { query: 'a#b' },
    { method: 'CONNECT' },
    { method: 'GET /x HTTP/1.1\r\n' },
    { token: 'other' },
    { url: 'http://elsewhere.example' },
  ])('is refused: case %#', (given) => {
    expect(accepts(given)).toBe(false);
  });

  it('always names the route first', () => {
    expect(targetOf('charges', { path: '', query: '' })).toBe('/v1/proxy/charges');
    expect(targetOf('charges', { path: '/17', query: 'a=1' })).toBe('/v1/proxy/charges/17?a=1');
  });

  it('goes to a host only if the route names it', () => {
    const match = [{ hosts: ['api.example', '*.shop.example'], paths: [], headers: [] }];
    for (const host of ['api.example', 'a.shop.example', 'a.b.shop.example']) {
      expect([host, isHostOf(match, host)]).toEqual([host, true]);
    }
    for (const host of [
      'example',
      'shop.example',
      '*.shop.example',
      'API.example',
      'api.example:80',
      'x.api.example',
      '',
      'a.shop.example\r\n',
      '127.0.0.1',
    ]) {
      expect([host, isHostOf(match, host)]).toEqual([host, false]);
    }
    expect(isHostOf([], 'api.example')).toBe(false);
  });
});
