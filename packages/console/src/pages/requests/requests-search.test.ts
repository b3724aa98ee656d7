import { describe, expect, it } from '@jest/globals';
import { hasFilters, requestsSearch, withLive, withRequestFilters } from './requests-search.ts';

describe('the search of the requests', () => {
  it('reads filters, and leaves out what is no filter', () => {
    const given = { route: 'charges', status: 502, slower: 200, live: false, other: 'x' };
    const search = { route: 'charges', status: '502', slower: 200, live: false };
    expect(requestsSearch(given)).toEqual(search);
    expect(requestsSearch({ route: '', slower: -1, live: true, method: ['GET'] })).toEqual({});
  });

  it('begins at the first page after a change', () => {
    const search = { route: 'charges', status: '5xx', cursor: 'c' };
    expect(withRequestFilters(search, { status: undefined, method: 'GET' })).toEqual({
      route: 'charges',
      method: 'GET',
    });
  });

  it('says whether it has filters; the cursor and `live` are not filters', () => {
    expect(hasFilters(withLive({ cursor: 'c' }, false))).toBe(false);
    expect(hasFilters({ slower: 0 })).toBe(true);
    expect(hasFilters({ error: 'upstream_timeout' })).toBe(true);
    expect(withLive({ live: false, route: 'a' }, true)).toEqual({ route: 'a' });
  });
});
