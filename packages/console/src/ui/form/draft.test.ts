import { describe, expect, it } from '@jest/globals';
import {
  changesBetween,
  differencesBetween,
  undoing,
  valueAt,
  valueText,
  withChanges,
  withValue,
} from './draft.ts';

const route = {
  name: 'charges',
  timeout_ms: 1000,
  rate_limit: { limit: 5, per: 'route' },
  auth: { type: 'token' },
  versions: [
    { name: 'v1', weight: 90 },
    { name: 'v2', weight: 10 },
  ],
};

describe('a draft', () => {
  it('is undone field by field, and fields of which one replaces the other together', () => {
    expect(undoing({ timeout_ms: 5, rate_limit: { limit: 1 } }, route)).toEqual({
      timeout_ms: 1000,
      rate_limit: { limit: 5, per: 'route' },
    });
    const before = { ...route, service_id: null };
    expect(undoing({ service_id: 'a' }, before, ['service_id', 'versions'])).toEqual({
      service_id: null,
      versions: route.versions,
    });
    expect(undoing({ name: 'a' }, before, ['service_id', 'versions'])).toEqual({ name: 'charges' });
  });

  it('has values at paths through objects and lists', () => {
    expect(valueAt(route, 'versions.1.weight')).toBe(10);
    expect(valueAt(route, 'rate_limit.nothing.here')).toBeUndefined();
    expect(valueAt(route, 'constructor.name')).toBeUndefined();
    const changed = withValue(route, 'versions.1.weight', 20);
    expect(valueAt(changed, 'versions.1.weight')).toBe(20);
    expect(valueAt(changed, 'versions.0')).toBe(route.versions[0]);
    expect(valueAt(route, 'versions.1.weight')).toBe(10);
    expect(withValue({}, 'retry.backoff_ms', 1)).toEqual({ retry: { backoff_ms: 1 } });
  });

  it('sends only what was changed, and other objects than merged ones as a whole', () => {
    const changed = [
      ['rate_limit.limit', 6],
      ['auth.type', 'none'],
      ['versions.0.weight', 80],
    ].reduce((draft, [path, value]) => withValue(draft, String(path), value), {
      ...route,
    } as object as Record<string, unknown>);
    expect(changesBetween(route, changed, ['rate_limit'])).toEqual({
      rate_limit: { limit: 6 },
      auth: { type: 'none' },
      versions: [
        { name: 'v1', weight: 80 },
        { name: 'v2', weight: 10 },
      ],
    });
    expect(changesBetween(route, structuredClone(route))).toEqual({});
  });

  it('keeps the changes of somebody else in other fields', () => {
    const theirs = { ...route, timeout_ms: 2000, rate_limit: { limit: 5, per: 'token' } };
    const mine = { rate_limit: { limit: 9 } };
    expect(withChanges(theirs, mine, ['rate_limit'])).toEqual({
      ...theirs,
      rate_limit: { limit: 9, per: 'token' },
    });
    expect(differencesBetween(route, theirs)).toEqual([
      { path: 'timeout_ms', before: 1000, after: 2000 },
      { path: 'rate_limit.per', before: 'route', after: 'token' },
    ]);
  });

  it('shows values to people', () => {
    expect([null, '', [], undefined].map(valueText)).toEqual(['none', 'none', 'none', 'none']);
    expect(valueText(['GET', 'POST'])).toBe('GET, POST');
    expect(valueText([{ a: 1 }])).toBe('[{"a":1}]');
    expect(valueText(false)).toBe('false');
  });
});
