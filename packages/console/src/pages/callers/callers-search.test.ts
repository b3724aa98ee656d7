import { expect, it } from '@jest/globals';
import { callersSearch } from './callers-search.ts';

it('the URL of the page of callers holds what is not the default, and nothing that is wrong', () => {
  expect(callersSearch({ period: '24h', order: 'quota_used', route: 'charges' })).toEqual({
    period: '24h',
    order: 'quota_used',
    route: 'charges',
  });
  expect(callersSearch({ period: '1h', order: 'requests', route: '' })).toEqual({});
  expect(callersSearch({ period: 'toString', order: 5, route: 404 })).toEqual({ route: '404' });
});
