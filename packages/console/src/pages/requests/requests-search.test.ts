import { describe, expect, it } from '@jest/globals';
import {
  filtersOf,
  hasFilters,
  requestsSearch,
  similarSearch,
  withLive,
  withOpen,
  withRequestFilters,
} from './requests-search.ts';

describe('the search of the requests', () => {
  it('reads filters, and leaves out what is no filter', () => {
    const given = { route: 'charges', status: 502, slower: 200, live: false, other: 'x' };
    const search = { route: 'charges', status: '502', slower: 200, live: false };
    expect(requestsSearch(given)).toEqual(search);
    expect(requestsSearch({ route: '', slower: -1, live: true, method: ['GET'] })).toEqual({});
    expect(requestsSearch({ failed: true, period: '1h' })).toEqual({ failed: true, period: '1h' });
    expect(requestsSearch({ failed: 'yes', period: 'constructor' })).toEqual({});
  });

  it('begins at the first page after a change', () => {
    const search = { route: 'charges', status: '5xx', cursor: 'c' };
    expect(withRequestFilters(search, { status: undefined, method: 'GET' })).toEqual({
      route: 'charges',
      method: 'GET',
    });
  });

  it('has one period: the last one chosen', () => {
    const fixed = withRequestFilters({ period: '7d' }, { since: '2030-01-01T00:00:00Z' });
    expect(fixed).toEqual({ since: '2030-01-01T00:00:00Z' });
    expect(withRequestFilters(fixed, { period: '1h' })).toEqual({ period: '1h' });
    expect(withRequestFilters(fixed, { period: undefined })).toEqual({});
  });

  it('says whether it has filters; the period, the cursor and `live` are none', () => {
    expect(hasFilters(withLive({ cursor: 'c', period: '1h', open: 'req_1' }, false))).toBe(false);
    expect(hasFilters({ slower: 0 })).toBe(true);
    expect(hasFilters({ failed: true })).toBe(true);
    expect(hasFilters({ error: 'upstream_timeout' })).toBe(true);
    expect(withLive({ live: false, route: 'a' }, true)).toEqual({ route: 'a' });
  });

  it('opens a request beside the same page, and closes it', () => {
    const search = { route: 'charges', cursor: 'c' };
    const opened = withOpen(search, 'req_1');
    expect(opened).toEqual({ ...search, open: 'req_1' });
    expect(withOpen(opened, undefined)).toEqual(search);
    expect(filtersOf({ ...opened, live: false, period: '7d' })).toEqual({
      route: 'charges',
      period: '7d',
    });
  });

  it('finds similar requests by route, status and error, in a period that has this one', () => {
    const at = '2030-01-10T00:00:00.000Z';
    const nowMs = Date.parse(at);
    const failed = { route: 'charges', status: 502, error_code: 'upstream_timeout' };
    const search = { route: 'charges', status: '502', error: 'upstream_timeout' };
    expect(similarSearch({ ...failed, received_at: at }, nowMs + 1000)).toEqual(search);
    const days = (count: number) => nowMs + count * 86_400_000;
    expect(similarSearch({ ...failed, received_at: at }, days(2))).toEqual({
      ...search,
      period: '7d',
    });
    expect(similarSearch({ ...failed, received_at: at }, days(8)).period).toBe('30d');
    const left = { route: null, status: null, error_code: null, received_at: at };
    expect(similarSearch(left, nowMs)).toEqual({ status: 'none' });
  });
});
