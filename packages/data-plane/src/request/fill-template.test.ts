import { describe, expect, it } from '@jest/globals';
import { parseTemplate } from '@gateway/shared/definitions/value-template';
import { fillTemplate, type Place, type VariableSource } from './fill-template.ts';

const target = {
  routeName: 'orders',
  subPath: '/a%20b&c=d+e;f',
  path: '/v1/proxy/orders/a%20b&c=d+e;f',
  query: '',
  way: undefined,
  hostEnvironment: undefined,
};

function sourceOf(claims?: Readonly<Record<string, string | number | boolean | string[]>>) {
  const caller = { principal: 'jwt:x', subject: undefined, subjectField: undefined };
  const jwt = claims && { ...caller, claims, inexactClaims: ['long'] };
  const source = { id: 'req_1', route: undefined, token: undefined, clientIp: '::1', target, jwt };
  return source satisfies VariableSource;
}

function filled(text: string, place: Place = 'field', claims?: Parameters<typeof sourceOf>[0]) {
  return fillTemplate(parseTemplate(text), sourceOf(claims), place);
}

describe('the variables of a value', () => {
  it('are filled in', () => {
    expect(filled('a')).toBe('a');
    expect(filled('<{request.id}> {client.ip}')).toBe('<req_1> ::1');
    expect(filled('/x/{path.rest}', 'path')).toBe('/x/a%20b&c=d+e;f');
  });

  it('make no other parameters in a query', () => {
    expect(filled('{path.rest}', 'query')).toBe('a%20b%26c%3Dd%2Be%3Bf');
  });

  it('leave no value if one of them has none', () => {
    expect(filled('a{token.id}')).toBeUndefined();
    expect(filled('{jwt.claims.tenant}')).toBeUndefined();
    expect(filled('{request.id}{jwt.claims.tenant}', 'field', {})).toBeUndefined();
    expect(filled('{jwt.claims.toString}', 'field', {})).toBeUndefined();
  });
});

describe('a claim', () => {
  it.each<[string | number | boolean, string]>([
    ['acme', 'acme'],
    [7, '7'],
    [true, 'true'],
    ['a/../b', 'a%2F..%2Fb'],
    ["X: 1!'()*", 'X:%201%21%27%28%29%2A'],
    ['é€😀\ud800', '%C3%A9%E2%82%AC%F0%9F%98%80%EF%BF%BD'],
    ['a b&c=d?e#f%g;h+i,j\\k"l', 'a%20b%26c%3Dd%3Fe%23f%25g%3Bh%2Bi%2Cj%5Ck%22l'],
  ])('%j is percent-encoded', (tenant, expected) => {
    for (const place of ['path', 'query', 'field'] as const) {
      expect(filled('{jwt.claims.tenant}', place, { tenant })).toBe(expected);
    }
  });

  it('has no value if it is empty, a list, not known exactly, or has a control character', () => {
    for (const tenant of ['a\r\nX: 1', 'a\u0000', '\u007f', '\u0085']) {
      expect(filled('{jwt.claims.tenant}', 'field', { tenant })).toBeUndefined();
    }
    expect(filled('{jwt.claims.tenant}', 'field', { tenant: '' })).toBeUndefined();
    expect(filled('{jwt.claims.tenant}', 'field', { tenant: ['a'] })).toBeUndefined();
    expect(filled('{jwt.claims.long}', 'field', { long: 'a' })).toBeUndefined();
  });

  it.each(['.', '..'])('%j is none of a path', (tenant) => {
    expect(filled('/{jwt.claims.tenant}', 'path', { tenant })).toBeUndefined();
    expect(filled('{jwt.claims.tenant}', 'field', { tenant })).toBe(tenant);
  });
});
