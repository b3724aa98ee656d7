import { expect, it } from '@jest/globals';
import { hasFilters, tokensSearch } from './tokens-search.ts';

it('reads the search, the state, the environment and the order of the tokens from a URL', () => {
  const whole = {
    search: 'bil',
    state: 'unused',
    of: 'staging',
    order: '-expires_at',
    cursor: 'c',
  };
  expect(tokensSearch(whole)).toEqual(whole);
  expect(tokensSearch({ search: 42 })).toEqual({ search: '42' });
  expect(tokensSearch({ search: '', state: 'gone', of: {}, order: 'id' })).toEqual({});
  expect([{}, { order: 'name' }, { state: 'expired' }].map(tokensSearch).map(hasFilters)).toEqual([
    false,
    false,
    true,
  ]);
});
