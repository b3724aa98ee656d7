import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  DEFAULT_METHODS,
  isForwardable,
  isIdempotent,
  MAX_METHOD_CHARS,
  METHOD_TOKEN,
  REGISTERED_METHODS,
} from './methods.ts';

const PAGE = new URL('../../../../docs/use/policies/paths-and-methods.md', import.meta.url);
const ROW = /^\| `([^`]+)` +\| (yes|no) +\| (yes|no) +\|$/gm;

describe('the table of registered methods', () => {
  it('is the one of docs/use/policies/paths-and-methods.md', () => {
    const documented = [...readFileSync(PAGE, 'utf8').matchAll(ROW)];
    expect(documented.map(([, method, safe, idempotent]) => [method, safe, idempotent])).toEqual(
      [...REGISTERED_METHODS].map(([method, { safe, idempotent }]) => [
        method,
        safe ? 'yes' : 'no',
        idempotent ? 'yes' : 'no',
      ]),
    );
  });

  it('has each method once, as a token, and every safe one as idempotent', () => {
    const methods = [...REGISTERED_METHODS.keys()];
    expect(methods.slice(0, -1)).toEqual(methods.slice(0, -1).toSorted());
    for (const [method, { safe, idempotent }] of REGISTERED_METHODS) {
      expect(method).toMatch(METHOD_TOKEN);
      expect(idempotent || !safe).toBe(true);
    }
  });

  it('has what RFC 9110 and RFC 5789 say of their own methods', () => {
    expect(DEFAULT_METHODS.filter(isIdempotent)).toEqual([
      'GET',
      'HEAD',
      'PUT',
      'DELETE',
      'OPTIONS',
    ]);
  });
});

describe('a method', () => {
  it.each(['FROB', 'get', 'propfind', '!'])(
    'that is not registered is not idempotent: %s',
    (one) => {
      expect(isIdempotent(one)).toBe(false);
    },
  );

  it.each(['CONNECT', 'TRACE', 'PRI', '*', 'connect', 'Trace', 'pri'])(
    '%s is never forwarded',
    (one) => {
      expect(isForwardable(one)).toBe(false);
    },
  );

  it.each([...DEFAULT_METHODS, 'PROPFIND', 'QUERY', 'M-SEARCH', 'patch', '**'])(
    '%s may be',
    (one) => {
      expect(isForwardable(one)).toBe(true);
    },
  );

  it('is a token of bounded length', () => {
    expect('M'.repeat(MAX_METHOD_CHARS)).toMatch(METHOD_TOKEN);
    for (const text of [
      '',
      'M'.repeat(MAX_METHOD_CHARS + 1),
      'A B',
      'A\n',
      'A/B',
      'É',
      'A"',
      'A\0',
    ]) {
      expect(text).not.toMatch(METHOD_TOKEN);
    }
  });
});
