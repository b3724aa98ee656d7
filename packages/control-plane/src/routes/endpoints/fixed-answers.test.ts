import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';
import { FULL, tokenCalls } from '../../../test/tokens.ts';

const RESPOND = { status: 503, body: 'closed', content_type: 'text/plain' };
const REDIRECT = { status: 308, location: 'https://new.example.com/{path.rest}' };

describe('routes that answer themselves', () => {
  let api: TestApi;
  let service: string;
  let names = 0;

  beforeAll(async () => {
    api = await startTestApi();
    const body = { name: 'pay', environment: 'production', url: 'http://pay.example' };
    service = (await api.call('POST', '/v1/services', { body })).json.data?.id ?? '';
  });
  afterAll(() => api.close());

  const { make } = tokenCalls(() => api);

  const create = (fields: object, token?: string) =>
    api.call('POST', '/v1/routes', {
      body: { name: `r-${(names += 1)}`, ...fields },
      ...(token !== undefined && { token }),
    });
  const refusalOf = ({ status, json }: Answer) => [status, json.error?.['details']];
  const pathOf = ({ json }: Answer) => `/v1/routes/${json.data?.id ?? ''}`;

  it.each([
    [{ respond: RESPOND }, { respond: RESPOND, redirect: null }],
    [
      { respond: {} },
      { respond: { status: 200, body: '', content_type: 'text/plain; charset=utf-8' } },
    ],
    [{ redirect: { location: '/new' } }, { redirect: { status: 302, location: '/new' } }],
  ])('have the target %j and the environment that they name', async (target, shown) => {
    const made = await create({ ...target, environment: 'development' });
    expect(made.status).toBe(201);
    expect(made.json.data).toMatchObject({
      environment: 'development',
      service_id: null,
      versions: null,
      ...shown,
    });
  });

  it('have the environment of the token if that covers only one', async () => {
    const { secret } = await make({ ...FULL, name: `t-${names}`, environments: ['development'] });
    const made = await create({ respond: {} }, secret);
    expect(made.json.data).toMatchObject({ environment: 'development' });
  });

  it('need an environment that is there and covered by the token', async () => {
    expect(refusalOf(await create({ respond: {} }))).toEqual([
      400,
      [{ path: 'environment', message: expect.stringContaining('is required') }],
    ]);
    expect(refusalOf(await create({ respond: {}, environment: 'none' }))).toEqual([
      400,
      [{ path: 'environment', message: 'must be the name of an environment' }],
    ]);
    const { secret } = await make({ ...FULL, name: `t-${names}`, environments: ['development'] });
    for (const environment of ['production', 'none']) {
      expect((await create({ respond: {}, environment }, secret)).status).toBe(401);
    }
  });

  it('have exactly one target', async () => {
    const two = { service_id: service, respond: RESPOND };
    expect(refusalOf(await create(two))).toEqual([
      400,
      [{ path: 'service_id', message: 'must be left out when `respond` is given' }],
    ]);
    const answers = { respond: RESPOND, redirect: REDIRECT, environment: 'production' };
    expect(refusalOf(await create(answers))).toEqual([
      400,
      [{ path: 'respond', message: 'must be left out when `redirect` is given' }],
    ]);
  });

  it('of a service may name its environment, not another one', async () => {
    expect((await create({ service_id: service, environment: 'production' })).status).toBe(201);
    expect(refusalOf(await create({ service_id: service, environment: 'development' }))).toEqual([
      400,
      [{ path: 'environment', message: 'must be that of the service, production' }],
    ]);
  });

  it('get another target by PATCH, which replaces the one before, in the same environment', async () => {
    const path = pathOf(await create({ service_id: service, timeout_ms: 7 }));
    const patch = async (body: object) => (await api.call('PATCH', path, { body })).json.data;
    expect(await patch({ respond: { status: 503 } })).toMatchObject({
      environment: 'production',
      service_id: null,
      respond: { status: 503, body: '' },
      timeout_ms: 7,
    });
    expect(await patch({ respond: { body: 'b' } })).toMatchObject({
      respond: { status: 200, body: 'b' },
    });
    expect(await patch({ redirect: REDIRECT })).toMatchObject({
      respond: null,
      redirect: REDIRECT,
    });
    expect(await patch({ service_id: service })).toMatchObject({
      service_id: service,
      redirect: null,
    });
    await patch({ respond: RESPOND });
    const none = await api.call('PATCH', path, { body: { respond: null } });
    expect(refusalOf(none)).toEqual([400, [{ path: 'service_id', message: 'is required' }]]);
  });

  it('may be sent back whole with another target', async () => {
    const path = pathOf(await create({ service_id: service }));
    const shown = (await api.call('GET', path)).json.data as object;
    const body = { ...shown, respond: RESPOND };
    const changed = await api.call('PATCH', path, { body });
    expect(changed.json.data).toMatchObject({ service_id: null, respond: RESPOND });
  });

  it('are replaced by PUT in the environment of the query', async () => {
    const path = '/v1/routes/put-closed?environment=development';
    const made = await api.call('PUT', path, { body: { respond: RESPOND } });
    expect([made.status, made.json.data]).toMatchObject([201, { environment: 'development' }]);
    const shown = made.json.data as object;
    expect((await api.call('PUT', path, { body: shown })).json.data).toEqual(shown);
    const body = { service_id: service };
    expect((await api.call('PUT', path, { body })).status).toBe(400);
  });

  it('have no variable that their callers never have', async () => {
    const needsClaim = { redirect: { location: '/{jwt.claims.tenant}' } };
    const refused = [
      { path: 'redirect.location', message: expect.stringContaining('{jwt.claims.tenant}') },
    ];
    const made = await create({ ...needsClaim, environment: 'production' });
    expect(refusalOf(made)).toEqual([400, refused]);
    const path = pathOf(await create({ service_id: service }));
    const patched = await api.call('PATCH', path, { body: needsClaim });
    expect(refusalOf(patched)).toEqual([400, refused]);
    const redirect = { location: '/{token.id}' };
    const open = await api.call('PATCH', path, { body: { redirect, auth: { type: 'none' } } });
    expect(open.status).toBe(400);
  });

  it('are applied in the environment of the file, exported without null, and compared', async () => {
    await api.call('POST', '/v1/environments', { body: { name: 'moved' } });
    const routes = [
      { name: 'closed', respond: RESPOND },
      { name: 'old', redirect: REDIRECT },
    ];
    const apply = (body: object) => api.call('POST', '/v1/environments/moved/apply', { body });
    expect((await apply({ routes })).status).toBe(200);
    const exported = await api.call('GET', '/v1/environments/moved/export');
    expect((exported.json.data as { routes?: unknown }).routes).toEqual(
      routes.map((route) => ({ ...route, locations: 'map' })),
    );
    expect((await apply({ routes })).json.data).toMatchObject({ changed: false });
    const both = await apply({ routes: [{ name: 'x', service: 'pay', redirect: REDIRECT }] });
    expect(refusalOf(both)).toEqual([
      400,
      [
        {
          path: '/routes/0/service',
          message: 'route x: must be left out when `redirect` is given',
        },
      ],
    ]);
    const bad = await apply({ routes: [{ name: 'x', redirect: { location: '//evil.test' } }] });
    expect(refusalOf(bad)).toEqual([
      400,
      [{ path: '/routes/0/redirect/location', message: expect.stringContaining('two slashes') }],
    ]);
  });

  it('keep their environment from being deleted', async () => {
    await api.call('POST', '/v1/environments', { body: { name: 'held' } });
    await create({ respond: {}, environment: 'held' });
    expect((await api.call('DELETE', '/v1/environments/held')).status).toBe(409);
  });

  it('are named by no service', async () => {
    const path = pathOf(await create({ service_id: service }));
    await api.call('PATCH', path, { body: { respond: RESPOND } });
    const list = await api.call('GET', `/v1/routes?service_id=${service}&limit=200`);
    expect(list.json.data?.map(({ id }) => `/v1/routes/${id}`)).not.toContain(path);
  });
});
