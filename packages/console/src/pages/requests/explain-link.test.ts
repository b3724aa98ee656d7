import { expect, it } from '@jest/globals';
import { explainSearch } from '../route/explain/explain-search.ts';
import { explainLink } from './explain-link.ts';

const record = {
  method: 'PUT',
  path: '/v1/proxy/orders/2113',
  route: 'orders',
  match: null,
  host: 'gateway.example',
  token_id: 'tok_1',
  subject: null,
  error_code: null,
};

it('asks about the same method, path and token', () => {
  expect(explainLink(record)).toEqual({
    tab: 'explain',
    method: 'PUT',
    target: '/2113',
    caller: 'token',
    token_id: 'tok_1',
  });
});

it('names the host of a request that did not name its route', () => {
  const matched = { ...record, match: 'api.example/*', path: '/2113', host: 'api.example' };
  expect(explainLink(matched)).toMatchObject({ host: 'api.example', target: '/2113' });
});

it('asks about a caller without a credential only if none was needed', () => {
  const open = { ...record, token_id: null };
  expect(explainLink(open)).toMatchObject({ caller: 'anonymous' });
  const refused = { ...open, error_code: 'authentication_failed' };
  expect(explainLink(refused)).not.toHaveProperty('caller');
});

it('has only what may stand in a URL', () => {
  const typed = { method: 'GET', target: 17, headers: 'Authorization: secret', body: 'secret' };
  expect(explainSearch({ ...typed, caller: 'nobody' })).toEqual({ method: 'GET', target: '17' });
});
