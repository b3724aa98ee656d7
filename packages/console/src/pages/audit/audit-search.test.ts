import { describe, expect, it } from '@jest/globals';
import { withFilters } from '../list-search.ts';
import { auditSearch } from './audit-search.ts';

describe('the search of audit events', () => {
  it('takes known filters from the URL, and leaves out what is wrong', () => {
    const search = {
      type: 'route',
      resource: 'rte_1',
      token: 'tok_1',
      period: '7d',
      cursor: 'abc',
    };
    expect(auditSearch(search)).toEqual(search);
    expect(auditSearch({ period: '1y' })).toEqual({});
    expect(auditSearch({ type: 'user', resource: 'x'.repeat(65), token: 5 })).toEqual({});
  });

  it('starts on the first page when a filter changes', () => {
    const search = { type: 'route', token: 'tok_1', cursor: 'abc' } as const;
    expect(withFilters(search, { token: undefined })).toEqual({ type: 'route' });
  });
});
