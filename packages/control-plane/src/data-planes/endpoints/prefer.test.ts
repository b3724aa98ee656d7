import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { startTestApi, type Answer, type CallOptions, type TestApi } from '../../../test/api.ts';

let api: TestApi;
beforeEach(async () => void (api = await startTestApi()));
afterEach(() => api.close());

const prefer = { prefer: 'wait=5' };
const outcome = ({ status, headers }: Answer) => [
  status,
  headers.get('preference-applied'),
  headers.get('x-gateway-wait'),
];

function serve(versions: Record<string, number>): void {
  api.dataPlanes.take(heartbeatOf('dp', { config_versions: versions }), api.clock.monotonicMs());
}

/** Calls, and meanwhile publishes the change and lets it be served. */
async function served(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const before = await api.publish('production');
  serve({ production: before, development: await api.publish('development') });
  const state = { ended: false };
  const call = api
    .call(method, path, { ...options, headers: { ...prefer, ...options.headers } })
    .finally(() => (state.ended = true));
  // Until the change is committed there is nothing to publish.
  while (!state.ended) {
    const versions = await Promise.all(
      ['production', 'development'].map((one) => api.publish(one)),
    );
    serve({ production: versions[0] ?? 0, development: versions[1] ?? 0 });
    await new Promise((resolve) => setImmediate(resolve));
  }
  return call;
}

describe('Prefer: wait on a write', () => {
  it('is applied to every kind of write when all live data planes serve its result', async () => {
    const applied = (status: number) => [status, 'wait=5', null];
    const made = {
      body: { name: 'a', environment: 'production', url: 'http://a.example' },
      headers: { 'idempotency-key': 'once' },
    };
    const service = await served('POST', '/v1/services', made);
    expect(outcome(service)).toEqual(applied(201));
    expect(outcome(await served('POST', '/v1/services', made))).toEqual(applied(201));
    const servicePath = `/v1/services/${service.json.data?.id ?? ''}`;
    const change = { body: { health_path: '/x' } };
    expect(outcome(await served('PATCH', servicePath, change))).toEqual(applied(200));
    // It changes nothing, so it waits for the current version.
    expect(outcome(await served('PATCH', servicePath, change))).toEqual(applied(200));
    const route = await served('POST', '/v1/routes', {
      body: { name: 'a', service_id: service.json.data?.id },
    });
    expect(outcome(route)).toEqual(applied(201));
    const routePath = `/v1/routes/${route.json.data?.id ?? ''}`;
    expect(outcome(await served('PATCH', routePath, { body: { timeout_ms: 5 } }))).toEqual(
      applied(200),
    );
    expect(outcome(await served('DELETE', routePath))).toEqual(applied(204));
    const put = { body: { service_id: service.json.data?.id } };
    const there = '?environment=production';
    expect(outcome(await served('PUT', `/v1/routes/b${there}`, put))).toEqual(applied(201));
    const putService = { body: { url: 'http://a.example' } };
    expect(outcome(await served('PUT', `/v1/services/b${there}`, putService))).toEqual(
      applied(201),
    );
    const version = await api.publish('production');
    const prune = { body: { routes: [], prune: true } };
    const environment = '/v1/environments/production';
    expect(outcome(await served('POST', `${environment}/apply`, prune))).toEqual(applied(200));
    const back = { body: { version } };
    expect(outcome(await served('POST', `${environment}/rollback`, back))).toEqual(applied(200));
    expect(outcome(await served('POST', `${environment}/apply`, prune))).toEqual(applied(200));
    expect(outcome(await served('DELETE', servicePath))).toEqual(applied(204));
    const token = await served('POST', '/v1/tokens', {
      body: { name: 'a', environments: ['*'], scopes: ['proxy'] },
    });
    expect(outcome(token)).toEqual(applied(201));
    const tokenPath = `/v1/tokens/${token.json.data?.id ?? ''}`;
    expect(outcome(await served('POST', `${tokenPath}/rotate`, { body: {} }))).toEqual(
      applied(200),
    );
    expect(outcome(await served('DELETE', tokenPath))).toEqual(applied(204));
  });

  it('is not applied if that does not happen in time; the write stays, and the response says why', async () => {
    const create = (name: string) =>
      api.call('POST', '/v1/services', {
        body: { name, environment: 'production', url: 'http://a.example' },
        headers: { prefer: 'wait=0' },
      });
    expect(outcome(await create('a'))).toEqual([201, null, 'not_published']);
    expect((await api.call('GET', '/v1/services')).json.data).toMatchObject([{ name: 'a' }]);
  });

  it('waits no longer than requested', async () => {
    const state = { ended: false };
    const call = api
      .call('POST', '/v1/environments', { body: { name: 'new' }, headers: prefer })
      .finally(() => (state.ended = true));
    while (!state.ended) {
      api.clock.advance(500);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(outcome(await call)).toEqual([201, null, 'not_published']);
  });

  it('is ignored on a read, on an error and if it is malformed', async () => {
    const nothing = (status: number) => [status, null, null];
    const headers = prefer;
    expect(outcome(await api.call('GET', '/v1/services', { headers }))).toEqual(nothing(200));
    const refused = await api.call('POST', '/v1/services', { headers, body: {} });
    expect(outcome(refused)).toEqual(nothing(400));
    const body = { name: 'a', environment: 'production', url: 'http://a.example' };
    const malformed = { prefer: 'wait=soon, respond-async' };
    const made = await api.call('POST', '/v1/services', { body, headers: malformed });
    expect(outcome(made)).toEqual(nothing(201));
  });
});
