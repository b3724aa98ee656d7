import { describe, expect, it } from '@jest/globals';
import { withFilters } from '../list-search.ts';
import { hasFilters, routesSearch, type RoutesSearch } from './routes-search.ts';

describe('the URL of the list of routes', () => {
  it('holds search, status, service and cursor, and leaves out what is wrong', () => {
    const whole = { search: 'pay', status: 'disabled', service: 'svc_1', cursor: 'c' };
    expect(routesSearch(whole)).toEqual(whole);
    expect(routesSearch({ search: 42 })).toEqual({ search: '42' });
    expect(routesSearch({ search: '', status: 'gone', service: 7, other: 'x' })).toEqual({});
    expect(routesSearch({ search: 'x'.repeat(100) }).search).toHaveLength(63);
  });

  it('has filters, other than the environment that all pages have', () => {
    const environment: RoutesSearch & { readonly environment: string } = {
      environment: 'production',
    };
    expect(hasFilters(environment)).toBe(false);
    expect(hasFilters({ ...environment, cursor: 'c' })).toBe(true);
    expect(hasFilters({ ...environment, status: 'active' })).toBe(true);
  });

  it('begins at the first page when a filter changes', () => {
    const search: RoutesSearch & { readonly environment: string } = {
      cursor: 'c',
      search: 'pay',
      environment: 'production',
    };
    expect(withFilters(search, { status: 'active' })).toEqual({
      search: 'pay',
      environment: 'production',
      status: 'active',
    });
    expect(withFilters(search, { search: undefined })).toEqual({ environment: 'production' });
  });
});
