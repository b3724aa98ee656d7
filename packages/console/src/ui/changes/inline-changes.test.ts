import { describe, expect, it } from '@jest/globals';
import { inlineChanges } from './inline-changes.ts';

describe('a change in a line', () => {
  it('has the short values of its first fields, and counts the others', () => {
    const before = { timeout_ms: 7000, retry: { backoff_ms: 10 }, methods: null, limit: 1 };
    const after = { timeout_ms: 6000, retry: { backoff_ms: 20 }, methods: ['GET'], limit: 1 };
    expect(inlineChanges(before, after)).toEqual({
      shown: [
        { path: 'timeout_ms', values: { before: '7000', after: '6000' } },
        { path: 'retry.backoff_ms', values: { before: '10', after: '20' } },
      ],
      more: 1,
    });
    expect(inlineChanges({ methods: ['GET'] }, { methods: null })?.shown).toEqual([
      { path: 'methods', values: { before: 'GET', after: 'none' } },
    ]);
  });

  it('names fields alone whose values are long or several', () => {
    const long = inlineChanges({ host: 'x' }, { host: 'y'.repeat(200) });
    expect(long?.shown).toEqual([{ path: 'host' }]);
    const upstreams = (weight: number) => [{ url: 'http://a' }, { url: 'http://b', weight }];
    const several = inlineChanges({ upstreams: upstreams(1) }, { upstreams: upstreams(2) });
    expect(several?.shown).toEqual([{ path: 'upstreams' }]);
  });

  it('has the weights of versions of which nothing else changed', () => {
    const versions = (weight: number, service = 'svc_b') => [
      { name: 'stable', service_id: 'svc_a', weight: 100 - weight },
      { name: 'v2', service_id: service, weight },
    ];
    const shown = inlineChanges({ versions: versions(10) }, { versions: versions(50) })?.shown;
    const values = { before: 'stable 90, v2 10', after: 'stable 50, v2 50' };
    expect(shown).toEqual([{ path: 'versions', values }]);
    const moved = inlineChanges({ versions: versions(10) }, { versions: versions(50, 'svc_c') });
    expect(moved?.shown).toEqual([{ path: 'versions' }]);
    const added = inlineChanges({ versions: versions(10).slice(1) }, { versions: versions(10) });
    expect(added?.shown).toEqual([{ path: 'versions' }]);
    expect(inlineChanges({ versions: null }, { versions: versions(10) })?.shown).toHaveLength(1);
  });

  it('is none if the resource was created or deleted', () => {
    expect(inlineChanges(null, { a: 1 })).toBeUndefined();
    expect(inlineChanges({ a: 1 }, null)).toBeUndefined();
  });
});
