import { expect, it } from '@jest/globals';
import { ownPath, requestTitle } from './request-path.ts';

const orders = { route: 'orders', match: null };

it('leaves the name of the route out of the path, and nothing else', () => {
  expect(ownPath({ ...orders, path: '/v1/proxy/orders/2113' })).toBe('/2113');
  expect(ownPath({ ...orders, path: '/v1/proxy/orders' })).toBe('/');
  expect(ownPath({ ...orders, path: '/v1/proxy/orders-old/2113' })).toBe(
    '/v1/proxy/orders-old/2113',
  );
  const byHost = { route: 'orders', match: 'api.example/*', path: '/v1/proxy/orders/1' };
  expect(ownPath(byHost)).toBe(byHost.path);
  expect(ownPath({ route: null, match: null, path: '/v1/proxy/' })).toBe('/v1/proxy/');
});

it('is called by its status, method and path, which is cut', () => {
  const record = { ...orders, path: '/v1/proxy/orders/2113', method: 'POST', status: 503 };
  expect(requestTitle(record)).toBe('503 POST /2113');
  const long = { ...record, path: `/v1/proxy/orders/${'x'.repeat(900)}`, status: null };
  expect(requestTitle(long)).toMatch(/^No status POST \/x{95}…$/);
});
