import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { newAppliedEnvironment, summaryOf } from '../../../test/applied-environment.ts';

let api: TestApi;
beforeAll(async () => void (api = await startTestApi()));
afterAll(() => api.close());

const DOCUMENT = {
  services: [{ name: 'docs', url: 'http://docs.example' }],
  routes: [{ name: 'docs', service: 'docs', timeout_ms: 5000 }],
};

/** An environment with the route of the document, as a release left it that did not have the field. */
async function formerEnvironment() {
  const environment = await newAppliedEnvironment(api);
  await environment.apply(DOCUMENT);
  await sql`UPDATE routes SET locations = DEFAULT WHERE environment = ${environment.name}`.execute(
    api.db,
  );
  const shown = async () => (await environment.dump())['routes'];
  return { ...environment, shown };
}

it('a route of a former release has `off`, and an export shows it', async () => {
  const { shown } = await formerEnvironment();
  expect(await shown()).toEqual([{ ...DOCUMENT.routes[0], locations: 'off' }]);
});

it('apply and PUT without the field keep what a route has, and with it they set it', async () => {
  const { name, apply, shown } = await formerEnvironment();
  expect(summaryOf(await apply(DOCUMENT))).toMatchObject({ changed: false });
  await apply({ routes: [{ name: 'docs', service: 'docs', timeout_ms: 6000 }] });
  expect(await shown()).toEqual([{ ...DOCUMENT.routes[0], timeout_ms: 6000, locations: 'off' }]);
  const [service] = (await api.call('GET', `/v1/services?environment=${name}`)).json.data ?? [];
  const put = async (fields: object) => {
    const body = { service_id: service?.id, ...fields };
    return (await api.call('PUT', `/v1/routes/docs?environment=${name}`, { body })).json.data?.[
      'locations'
    ];
  };
  expect(await put({})).toBe('off');
  expect(await put({ locations: 'map' })).toBe('map');
  expect(await put({})).toBe('map');
  await apply({ routes: [{ ...DOCUMENT.routes[0], locations: 'off' }] });
  expect(await put({})).toBe('off');
});

it('a new route has `map`, however it is made', async () => {
  const { name, apply, shown } = await formerEnvironment();
  await apply({ routes: [{ name: 'applied', service: 'docs' }] });
  const [service] = (await api.call('GET', `/v1/services?environment=${name}`)).json.data ?? [];
  const body = { service_id: service?.id };
  await api.call('PUT', `/v1/routes/put?environment=${name}`, { body });
  await api.call('POST', '/v1/routes', { body: { ...body, name: 'created' } });
  expect(await shown()).toMatchObject([
    { name: 'applied', locations: 'map' },
    { name: 'created', locations: 'map' },
    { name: 'docs', locations: 'off' },
    { name: 'put', locations: 'map' },
  ]);
});
