import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startTestApi, type TestApi } from '../../test/api.ts';
import type { ServiceStatus } from '../services/service.ts';

/** A caller reads a resource, edits it and sends it back whole. */
describe('a GET body that is sent back as a PATCH', () => {
  let api: TestApi;
  let serviceId: string;
  let made = 0;
  const statusOf = new Map<string, ServiceStatus>();

  beforeAll(async () => {
    api = await startTestApi({ statusOf: (id) => statusOf.get(id) ?? 'unknown' });
    serviceId = (await post('/v1/services', { url: 'http://a.example' })).id;
  });

  afterAll(async () => {
    await api.close();
  });

  async function post(path: string, fields: object) {
    const environment = path === '/v1/services' ? { environment: 'production' } : {};
    const body = { name: `sent-${(made += 1)}`, ...environment, ...fields };
    const { status, json, text } = await api.call('POST', path, { body });
    if (status !== 201) throw new Error(text);
    const id = json.data?.id ?? '';
    return { id, path: `${path}/${id}` };
  }

  async function shown(path: string): Promise<Record<string, unknown>> {
    const { data } = (await api.call('GET', path)).json;
    if (data === undefined) throw new Error(`${path} is not shown`);
    return data;
  }

  const patch = (path: string, body: object) => api.call('PATCH', path, { body });
  const details = async (path: string, body: object) => {
    const { status, json } = await patch(path, body);
    return { status, details: json.error?.['details'] };
  };

  async function history() {
    const outbox = await api.db.selectFrom('config_outbox').select('id').execute();
    const events = (await api.call('GET', '/v1/audit-events?limit=1')).json.data?.[0]?.id;
    return { changes: outbox.length, events };
  }

  async function expectUnchanged(path: string): Promise<void> {
    const body = await shown(path);
    const before = await history();
    const answer = await patch(path, body);
    expect({ status: answer.status, data: answer.json.data }).toEqual({ status: 200, data: body });
    expect(await history()).toEqual(before);
  }

  const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
  const upstream = fc.record({
    url: fc.constantFrom('http://a.example', 'http://b.example/base', 'https://c.example'),
    region: fc.constantFrom(null, 'eu', 'us'),
    weight: fc.integer({ min: 1, max: 9 }),
  });
  const services = fc.record({
    upstreams: fc.uniqueArray(upstream, {
      minLength: 1,
      maxLength: 4,
      selector: ({ url, region }) => `${url} ${region}`,
    }),
    health_path: optional(fc.constantFrom('/healthz', '/up')),
    health_check: optional(
      fc.record({
        path: fc.constantFrom(null, '/healthz', '/live'),
        interval_ms: fc.integer({ min: 500, max: 9000 }),
      }),
    ),
    protocol: optional(fc.constantFrom('http1', 'http2', 'auto')),
    send_via: optional(fc.boolean()),
    limits: optional(
      fc.record({ max_in_flight: fc.constantFrom(null, 7), adaptive: fc.boolean() }),
    ),
    credential: optional(
      fc.constantFrom(
        null,
        { type: 'bearer', token: 'secret' },
        { type: 'basic', username: 'u', password: 'p' },
        { type: 'header', name: 'X-Key', value: 'secret' },
      ),
    ),
    tls: optional(fc.constantFrom(null, { server_name: 'inner.example' })),
  });
  const auth = fc.constantFrom<object>(
    { type: 'token' },
    { type: 'api_key' },
    { type: 'none' },
    { type: 'jwt', issuer: 'i', audience: 'a', jwks_url: 'https://keys.example' },
    {
      type: 'jwt',
      issuer: 'i',
      audience: ['a', 'b'],
      jwks_url: 'https://keys.example?x=1',
      required_claims: { tenant: ['a', 1, true], plan: 'gold' },
    },
  );
  const routes = fc.record({
    versions: optional(
      fc.constantFrom(
        [{ name: 'v1', weight: 1 }],
        [
          { name: 'v1', weight: 9 },
          { name: 'v2', weight: 0 },
        ],
      ),
    ),
    auth: optional(auth),
    methods: optional(fc.constantFrom(null, ['GET'], ['POST', 'GET'])),
    rate_limit: optional(fc.record({ limit: fc.integer({ min: 1, max: 10 ** 9 }) })),
    retry: optional(fc.record({ per_attempt_timeout_ms: fc.constantFrom(null, 5) })),
    regions: optional(fc.constantFrom([], ['eu', 'us'])),
    status: optional(fc.constantFrom('active', 'disabled')),
  });
  const tokens = fc.record({
    environments: fc.constantFrom(['*'], ['production'], ['production', 'development']),
    scopes: fc.constantFrom(['*'], ['proxy', 'audit:read']),
    expires_at: optional(
      fc.constantFrom(null, '2031-01-01T00:00:00Z', '2031-01-01T02:00:00+02:00'),
    ),
  });
  const runs = { numRuns: 40 };

  it('changes no service, for any settings', async () => {
    await fc.assert(
      fc.asyncProperty(services, async (settings) => {
        await expectUnchanged((await post('/v1/services', settings)).path);
      }),
      runs,
    );
  });

  it('changes no route, for any settings', async () => {
    await fc.assert(
      fc.asyncProperty(routes, async ({ versions, ...settings }) => {
        const target = versions?.map((one) => ({ ...one, service_id: serviceId }));
        const body = target
          ? { ...settings, versions: target }
          : { ...settings, service_id: serviceId };
        await expectUnchanged((await post('/v1/routes', body)).path);
      }),
      runs,
    );
  });

  it('changes no token, for any settings', async () => {
    await fc.assert(
      fc.asyncProperty(tokens, async (settings) => {
        await expectUnchanged((await post('/v1/tokens', settings)).path);
      }),
      runs,
    );
  });

  it('changes only what was edited', async () => {
    const service = await post('/v1/services', {
      upstreams: [{ url: 'http://a.example', region: 'eu', weight: 5 }],
      credential: { type: 'bearer', token: 'secret' },
    });
    const before = await shown(service.path);
    const edited = await patch(service.path, { ...before, health_path: '/up' });
    // The path of health checks was not set, so it still follows health_path.
    expect(edited.json.data).toMatchObject({ health_path: '/up', health_check: { path: '/up' } });
    const checks = { ...(before['health_check'] as object), interval_ms: 7000 };
    const slower = await patch(service.path, {
      ...(await shown(service.path)),
      health_check: { ...checks, path: '/up' },
    });
    expect(slower.json.data).toMatchObject({ health_check: { path: '/up', interval_ms: 7000 } });
    const again = await patch(service.path, { health_path: '/again' });
    expect(again.json.data).toMatchObject({ health_check: { path: '/again' } });
    expect(again.json.data?.['credential']).toEqual(before['credential']);
    expect(again.json.data?.['revision']).toBe(4);
  });

  it.each(['id', 'environment', 'status', 'revision', 'created_at', 'updated_at'])(
    'of a service is refused by name if %s is edited',
    async (field) => {
      const { path } = await post('/v1/services', { url: 'http://a.example' });
      const body = { ...(await shown(path)), [field]: 'edited' };
      expect(await details(path, body)).toEqual({
        status: 400,
        details: [{ path: field, message: 'is read-only' }],
      });
    },
  );

  it.each(['id', 'environment', 'revision', 'created_at', 'updated_at'])(
    'of a route is refused by name if %s is edited',
    async (field) => {
      const { path } = await post('/v1/routes', { service_id: serviceId });
      const body = { ...(await shown(path)), [field]: 7 };
      expect(await details(path, body)).toEqual({
        status: 400,
        details: [{ path: field, message: 'is read-only' }],
      });
    },
  );

  it('names every edited read-only field', async () => {
    const { path } = await post('/v1/tokens', { environments: ['production'], scopes: ['proxy'] });
    const body = {
      ...(await shown(path)),
      scopes: ['*'],
      id: 'tok_x',
      last_used_at: '2040-01-01T00:00:00Z',
    };
    expect(await details(path, body)).toEqual({
      status: 400,
      details: ['id', 'scopes', 'last_used_at'].map((field) => ({
        path: field,
        message: 'is read-only',
      })),
    });
  });

  it('follows the health of a service that is in the body', async () => {
    const { id, path } = await post('/v1/services', { url: 'http://a.example' });
    statusOf.set(id, 'healthy');
    const body = await shown(path);
    expect(body['status']).toBe('healthy');
    expect((await patch(path, body)).status).toBe(200);
  });

  it('refuses an edited credential without its secret', async () => {
    const credential = { type: 'header', name: 'X-Key', value: 'secret' };
    const { path } = await post('/v1/services', { url: 'http://a.example', credential });
    const body = await shown(path);
    const edited = {
      ...body,
      credential: { ...(body['credential'] as object), header: 'x-other' },
    };
    expect((await patch(path, edited)).status).toBe(400);
    expect(await shown(path)).toEqual(body);
  });

  describe('url and upstreams', () => {
    const two = [{ url: 'http://a.example' }, { url: 'http://b.example' }];

    it('change the only upstream by its url, and keep its region and weight', async () => {
      const upstreams = [{ url: 'http://a.example', region: 'eu', weight: 5 }];
      const { path } = await post('/v1/services', { upstreams });
      const answer = await patch(path, { ...(await shown(path)), url: 'http://new.example' });
      expect(answer.json.data).toMatchObject({
        url: 'http://new.example',
        upstreams: [{ url: 'http://new.example', region: 'eu', weight: 5 }],
      });
    });

    it('change the upstreams if the list was edited', async () => {
      const { path } = await post('/v1/services', { upstreams: two });
      const body = await shown(path);
      const answer = await patch(path, { ...body, upstreams: [{ url: 'http://c.example' }] });
      expect(answer.json.data).toMatchObject({ url: 'http://c.example' });
    });

    it('may both be edited if they agree', async () => {
      const { path } = await post('/v1/services', { upstreams: two });
      const upstreams = [{ url: 'http://c.example' }];
      expect((await patch(path, { url: 'http://c.example', upstreams })).status).toBe(200);
      const url = 'http://d.example';
      expect(await details(path, { url, upstreams: [{ url: 'http://e.example' }] })).toEqual({
        status: 400,
        details: [
          {
            path: 'url',
            message: 'must be the url of the first item of `upstreams`, or be left out',
          },
        ],
      });
    });

    it('do not let url replace several upstreams', async () => {
      const { path } = await post('/v1/services', { upstreams: two });
      const body = await shown(path);
      for (const sent of [{ url: 'http://c.example' }, { ...body, url: 'http://c.example' }]) {
        expect(await details(path, sent)).toEqual({
          status: 400,
          details: [
            {
              path: 'url',
              message:
                'cannot be changed alone, because the service has 2 upstreams; change `upstreams` instead',
            },
          ],
        });
      }
      expect(await shown(path)).toEqual(body);
      expect((await patch(path, { url: 'http://a.example' })).json.data).toEqual(body);
    });
  });
});
