import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  const made = await api.call('POST', '/v1/services', {
    body: { environment: 'production', name: 'pay', url: 'http://pay.example' },
  });
  for (const name of ['charges', 'refunds']) {
    const body = { environment: 'production', name, service_id: made.json.data?.id };
    await api.call('POST', '/v1/routes', { body });
  }
  await api.makeToken({ name: 'shop', environments: ['production'], scopes: ['proxy'] });
});
afterAll(() => api.close());

async function countsOf(query: string, token?: string): Promise<Record<string, unknown>> {
  const options = token === undefined ? {} : { token };
  const { json } = await api.call('GET', `/v1/environments${query}`, options);
  const data = json.data as unknown as { name: string; counts: unknown }[];
  return Object.fromEntries(data.map(({ name, counts }) => [name, counts]));
}

it('counts what each environment has only if it is asked to', async () => {
  expect(await countsOf('?counts=true')).toEqual({
    development: { services: 0, routes: 0, tokens: 0 },
    production: { services: 1, routes: 2, tokens: 1 },
  });
  expect(await countsOf('')).toEqual({ development: null, production: null });
});

it('counts nothing that the token may not list in full', async () => {
  const reads = ['services:read', 'routes:read', 'tokens:read'];
  const some = { name: 'some', environments: ['*'], routes: ['charges'], scopes: reads };
  expect((await countsOf('?counts=true', await api.makeToken(some)))['production']).toEqual({
    services: 1,
    routes: null,
    tokens: null,
  });
  const one = { name: 'one', environments: ['production'], scopes: reads };
  expect(await countsOf('?counts=true', await api.makeToken(one))).toEqual({
    production: { services: 1, routes: 2, tokens: null },
  });
  const none = { name: 'none', environments: ['production'], scopes: ['config:read'] };
  expect(await countsOf('?counts=true', await api.makeToken(none))).toEqual({
    production: { services: null, routes: null, tokens: null },
  });
});
