import { describe, expect, it, test } from '@jest/globals';
import { rewriteField } from '@gateway/shared/definitions/route-rewrite';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import fc from 'fast-check';
import { compileRewrite } from '../../routing-table/compile-rewrite.ts';
import type { VariableSource } from '../fill-template.ts';
import { rewriteQuery } from './rewrite-query.ts';

const KEPT = new URL('./rewrite-query.kept.json', import.meta.url);

const SOURCE: VariableSource = {
  id: 'req_1',
  route: undefined,
  token: undefined,
  jwt: undefined,
  clientIp: '192.0.2.1',
  target: {
    routeName: 'test',
    subPath: '/a&b=c',
    path: '/v1/proxy/test/a&b=c',
    query: '',
    way: undefined,
    hostEnvironment: undefined,
  },
};

/** @param set values by name; null: one that is not known */
function rewritten(query: string, set: readonly Pair[], remove: readonly string[] = []): string {
  const pairs = set.map(([name, value]) => ({ name, value: value ?? '{token.id}' }));
  const rules = compileRewrite(rewriteField.parse({ query: { set: pairs, remove } }), [])?.query;
  return rules === undefined ? query : rewriteQuery(query, rules, SOURCE);
}

type Pair = readonly [name: string, value: string | null];

describe('a query', () => {
  it.each<[string, readonly Pair[], readonly string[], string]>([
    ['', [['a', 'b c/é']], [], '?a=b%20c%2F%C3%A9'],
    ['?', [['a', '1']], [], '?a=1'],
    ['?x=1&a=2&y=%2f&a=3&z', [['a', '1']], [], '?x=1&a=1&y=%2f&z'],
    ['?x=+&&y', [['a', '1']], ['x'], '?&y&a=1'],
    ['?%61=1&A=2&a[]=3', [], ['a'], '?A=2&a[]=3'],
    ['?a+b=1&a%20b=2&%C3%A9=3&é=4', [], ['a b', 'é'], '?é=4'],
    ['?a=1', [], ['a'], ''],
    ['?a=1', [['a', null]], [], ''],
    ['?a=1&b=2', [['a', null]], [], '?b=2'],
    ['?r=1', [['r', '{path.rest}']], [], '?r=a%26b%3Dc'],
    ['?q=1;a=2', [], ['a'], '?q=1;a=2'],
    ['?%zz=1&%=2', [], ['%', '%zz'], ''],
  ])('%s is rewritten', (query, set, remove, expected) => {
    expect(rewritten(query, set, remove)).toBe(expected);
  });

  it('may be written in UTF-8 without escapes', () => {
    expect(rewritten('?\u00c3\u00a9=4&b', [], ['é'])).toBe('?b');
  });
});

interface Case {
  readonly parts: string[];
  readonly set: [string, string | null][];
  readonly remove: string[];
}

const fuzz = openFuzz<Case>(KEPT, 1500);
const name: fc.Arbitrary<string> = fc.constantFrom('a', 'b', 'A', 'a b', 'é', 'c&d', '%');
const value = fc.option(fc.constantFrom('', '1', 'x&y=z', '+ %', 'é'), { nil: null });
const part = fc.constantFrom(
  ...['a=1', '%61=2', 'b', 'b=', '=1', '', 'A=%2f', 'a+b=1', 'a%20b', '%C3%A9=1', 'c%26d=1', '%25'],
);
const cases: fc.Arbitrary<Case> = fc.record({
  parts: fc.array(part, { maxLength: 6 }),
  set: fc.uniqueArray(fc.tuple(name, value), { maxLength: 3, selector: ([one]) => one }),
  remove: fc.uniqueArray(name, { maxLength: 3 }),
});

/** The parameters as a server reads them. */
const read = (query: string) => [...new URLSearchParams(query)];
const nameOf = (one: string) => read(one)[0]?.[0] ?? '';

/** What a server should read: each parameter that is set once, at the place of its first or at the end. */
function model({ parts, set, remove }: Case): (readonly [string, string])[] {
  const left = new Map(set);
  const assigned = (one: string): (readonly [string, string])[] => {
    const text = left.get(one) ?? null;
    left.delete(one);
    return text === null ? [] : [[one, text]];
  };
  const names = new Set(set.map(([one]) => one));
  const kept = read(parts.join('&')).flatMap(([one, text]): (readonly [string, string])[] => {
    if (names.has(one)) return assigned(one);
    return remove.includes(one) ? [] : [[one, text]];
  });
  return [...kept, ...set.flatMap(([one]) => assigned(one))];
}

test('has for a server what a naive model has, and every other parameter as it was sent', () => {
  fc.assert(
    fc.property(cases, (one) => {
      const { parts, set, remove } = one;
      const query = parts.length === 0 ? '' : `?${parts.join('&')}`;
      const actual = rewritten(query, set, remove);
      expect(read(actual)).toEqual(model(one));
      const named = new Set([...remove, ...set.map(([other]) => other)]);
      const isOther = (text: string) => text !== '' && !named.has(nameOf(text));
      expect(actual.slice(1).split('&').filter(isOther)).toEqual(parts.filter(isOther));
      if (set.length === 0 && !parts.some((text) => named.has(nameOf(text)))) {
        expect(actual).toBe(query);
      }
    }),
    fuzzSettings(fuzz),
  );
});
