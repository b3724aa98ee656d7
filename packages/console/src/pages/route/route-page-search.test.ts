import { expect, it } from '@jest/globals';
import { routePageSearch } from './route-page-search.ts';

it('reads the tab, the period, the version and the change of the page of a route', () => {
  const whole = { tab: 'history', period: '24h', version: 'v2', change: 'aud_1' };
  expect(routePageSearch(whole)).toEqual(whole);
  expect(routePageSearch({ version: 7 })).toEqual({ version: '7' });
  // These are what is shown without them.
  expect(routePageSearch({ tab: 'overview', period: '1h' })).toEqual({});
  expect(routePageSearch({ tab: 'gone', period: '2h', version: '', change: {} })).toEqual({});
});
