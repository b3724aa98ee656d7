import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { etagOf } from '../../http/etag.ts';

describe('/v1/services', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });

  afterAll(async () => {
    await api.close();
  });

  async function make(fields: object) {
    const body = { environment: 'production', url: 'http://pay.example', ...fields };
    const { status, headers, json, text } = await api.call('POST', '/v1/services', { body });
    if (status !== 201) throw new Error(text);
    return {
      id: json.data?.id ?? '',
      data: json.data,
      headers,
      path: headers.get('location') ?? '',
    };
  }

  it('refuses a check with gRPC over HTTP/1.1, in a new and in a changed service', async () => {
    const health_check = { type: 'grpc', grpc_service: 'a.B' };
    const refusal = { details: [{ path: 'health_check.type' }] };
    const body = { environment: 'production', name: 'calls', url: 'http://calls.example' };
    const refused = await api.call('POST', '/v1/services', { body: { ...body, health_check } });
    expect([refused.status, refused.json.error]).toMatchObject([400, refusal]);
    const made = await make({ name: 'calls', health_check, protocol: 'http2' });
    expect(made.data?.['health_check']).toMatchObject(health_check);
    const changed = await api.call('PATCH', made.path, { body: { protocol: 'http1' } });
    expect([changed.status, changed.json.error]).toMatchObject([400, refusal]);
  });

  it('creates a service and shows it at its Location', async () => {
    const made = await make({ name: 'pay' });
    expect(made.path).toBe(`/v1/services/${made.id}`);
    expect(made.headers.get('etag')).toBe(etagOf({ ...made, revision: 1 }, 'unknown'));
    expect(made.data).toEqual({
      id: expect.stringMatching(/^svc_[0-9a-z]{26}$/),
      name: 'pay',
      environment: 'production',
      url: 'http://pay.example',
      health_path: '/healthz',
      status: 'unknown',
      upstreams: [{ url: 'http://pay.example', region: null, weight: 1 }],
      health_check: {
        type: 'http',
        grpc_service: '',
        path: '/healthz',
        interval_ms: 5000,
        timeout_ms: 2000,
        healthy_threshold: 2,
        unhealthy_threshold: 3,
      },
      limits: {
        max_in_flight: null,
        max_connections: null,
        max_pending: null,
        adaptive: false,
      },
      protocol: 'http1',
      websocket_protocol: 'http1',
      send_via: false,
      credential: null,
      tls: null,
      revision: 1,
      created_at: '2030-01-01T00:00:00.000Z',
      updated_at: '2030-01-01T00:00:00.000Z',
    });
    const read = await api.call('GET', made.path);
    expect(read.status).toBe(200);
    expect(read.headers.get('etag')).toBe(etagOf({ ...made, revision: 1 }, 'unknown'));
    expect(read.json.data).toEqual(made.data);
    expect(read.json).toHaveProperty('request_id', read.headers.get('x-request-id'));
  });

  it('lists services with the documented fields, filtered by environment and name', async () => {
    await make({ name: 'listed', environment: 'development' });
    const { json } = await api.call('GET', '/v1/services?environment=development&name=listed');
    expect(json.data).toHaveLength(1);
    expect(json.data?.[0]).toMatchObject({ name: 'listed', status: 'unknown' });
    expect(json.next_cursor).toBeNull();
    const none = await api.call('GET', '/v1/services?environment=production&name=listed');
    expect(none.json.data).toEqual([]);
  });

  it('uses the only environment of the token by default', async () => {
    const body = { name: 'one', environments: ['development'], scopes: ['services:write'] };
    const token = await api.makeToken(body);
    const service = { name: 'implied', url: 'http://a.example' };
    const made = await api.call('POST', '/v1/services', { token, body: service });
    expect(made.json.data).toMatchObject({ environment: 'development' });
    const refused = await api.call('POST', '/v1/services', { body: { ...service, name: 'x' } });
    expect(refused.status).toBe(400);
    expect(refused.json.error?.['details']).toMatchObject([{ path: 'environment' }]);
  });

  it('refuses a name that is taken in the environment, and accepts it in another', async () => {
    await make({ name: 'twin' });
    const body = { name: 'twin', environment: 'production', url: 'http://a.example' };
    const refused = await api.call('POST', '/v1/services', { body });
    expect(refused.status).toBe(409);
    expect(refused.json.error).toMatchObject({
      code: 'name_conflict',
      details: [{ path: 'name', message: 'is taken' }],
    });
    await make({ name: 'twin', environment: 'development' });
  });

  it('names the field of an environment that does not exist', async () => {
    const body = { name: 'x', environment: 'nowhere', url: 'http://a.example' };
    const { status, json } = await api.call('POST', '/v1/services', { body });
    expect({ status, details: json.error?.['details'] }).toEqual({
      status: 400,
      details: [{ path: 'environment', message: 'must be the name of an environment' }],
    });
  });

  it('refuses an upstream at a denied address', async () => {
    const body = { name: 'meta', environment: 'production', url: 'http://169.254.169.254/' };
    const { status, json } = await api.call('POST', '/v1/services', { body });
    expect(status).toBe(400);
    expect(json.error?.['details']).toMatchObject([{ path: 'url' }]);
  });

  it('changes the fields in a PATCH and no others, and increases the revision', async () => {
    const made = await make({ name: 'changing', health_path: '/up' });
    api.clock.advance(1000);
    const body = { url: 'http://new.example', health_check: { interval_ms: 3000 } };
    const changed = await api.call('PATCH', made.path, { body });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).toBe(etagOf({ ...made, revision: 2 }, 'unknown'));
    expect(changed.json.data).toMatchObject({
      name: 'changing',
      url: 'http://new.example',
      health_check: { path: '/up', interval_ms: 3000, timeout_ms: 2000 },
      revision: 2,
    });
    expect(changed.json.data?.['updated_at']).not.toBe(changed.json.data?.['created_at']);
  });

  it('refuses a PATCH that would leave WebSockets over HTTP/2 without HTTP/2', async () => {
    const sockets = { protocol: 'http2', websocket_protocol: 'http2' };
    const made = await make({ name: 'sockets', ...sockets });
    const plain = await make({ name: 'no-sockets' });
    const refusals = [
      await api.call('PATCH', made.path, { body: { protocol: 'http1' } }),
      await api.call('PATCH', plain.path, { body: { websocket_protocol: 'http2' } }),
    ];
    for (const { status, json } of refusals) {
      expect(status).toBe(400);
      expect(json.error?.['details']).toEqual([
        { path: 'websocket_protocol', message: 'must be http1 while protocol is http1' },
      ]);
    }
    expect((await api.call('PATCH', plain.path, { body: sockets })).status).toBe(200);
  });

  it('refuses a PATCH that would make the check timeout longer than the interval', async () => {
    const made = await make({ name: 'hasty' });
    for (const health_check of [{ interval_ms: 1000 }, { timeout_ms: 5001 }]) {
      const refused = await api.call('PATCH', made.path, { body: { health_check } });
      expect(refused.status).toBe(400);
      expect(refused.json.error?.['details']).toEqual([
        {
          path: 'health_check.timeout_ms',
          message: expect.stringMatching(/^must be at most interval_ms, which is (1000|5000)$/),
        },
      ]);
    }
    const body = { health_check: { interval_ms: 1000, timeout_ms: 1000 } };
    expect((await api.call('PATCH', made.path, { body })).status).toBe(200);
  });

  it('keeps the revision and publishes nothing if a PATCH changes nothing', async () => {
    const made = await make({ name: 'still' });
    const before = await changes();
    const same = await api.call('PATCH', made.path, {
      body: { name: 'still', url: 'http://pay.example', health_check: { interval_ms: 5000 } },
    });
    expect(same.json.data).toEqual(made.data);
    expect(await changes()).toEqual(before);
  });

  it('keeps the id of an upstream whose URL and region stay', async () => {
    const made = await make({ name: 'kept' });
    const upstreams = [{ url: 'http://pay.example', weight: 3 }, { url: 'http://b.example' }];
    const [before] = await stored(made.id);
    await api.call('PATCH', made.path, { body: { upstreams } });
    const [first, second] = await stored(made.id);
    expect(first).toEqual({ ...before, weight: 3 });
    expect(second?.id).not.toBe(before?.id);
  });

  it('does not delete a service in use, and names the routes that use it', async () => {
    const made = await make({ name: 'used' });
    const body = { name: 'uses-it', service_id: made.id };
    const route = await api.call('POST', '/v1/routes', { body });
    const refused = await api.call('DELETE', made.path);
    expect(refused.status).toBe(409);
    expect(refused.json.error).toMatchObject({
      code: 'service_in_use',
      message: 'These routes name the service: uses-it.',
    });
    await api.call('DELETE', route.headers.get('location') ?? '');
    const deleted = await api.call('DELETE', made.path);
    expect({ status: deleted.status, text: deleted.text }).toEqual({ status: 204, text: '' });
    expect(deleted.headers.get('x-request-id')).toMatch(/^req_/);
    expect((await api.call('DELETE', made.path)).json.error?.['code']).toBe('service_not_found');
  });

  it('names only routes that the token covers, and counts the others', async () => {
    const made = await make({ name: 'shared-by-routes' });
    const names = ['mine-1', 'mine-2', 'theirs-1', 'theirs-2'];
    for (const name of names) {
      await api.call('POST', '/v1/routes', { body: { name, service_id: made.id } });
    }
    const messageTo = async (routes: string[]) => {
      const reach = { environments: ['production'], scopes: ['services:write'] };
      const token = await api.makeToken({
        ...reach,
        name: `deleter of ${routes.length}-${routes[0]?.replace('*', 'all')}`,
        routes,
      });
      return (await api.call('DELETE', made.path, { token })).json.error?.['message'];
    };
    expect(await messageTo(['mine-1', 'mine-2'])).toBe(
      'These routes name the service: mine-1, mine-2, 2 more.',
    );
    expect(await messageTo(['another'])).toBe(
      'These routes name the service: 4 that the token does not cover.',
    );
    expect(await messageTo(['*'])).toBe(
      'These routes name the service: mine-1, mine-2, theirs-1, theirs-2.',
    );
  });

  it.each(['svc_00000000000000000000000000', 'nonsense', '%00', 'rte_00000000000000000000000000'])(
    'answers service_not_found for the id %s',
    async (id) => {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const body = method === 'PATCH' ? { body: { name: 'x' } } : {};
        const { status, json } = await api.call(method, `/v1/services/${id}`, body);
        expect({ status, code: json.error?.['code'] }).toEqual({
          status: 404,
          code: 'service_not_found',
        });
      }
    },
  );

  it('writes one outbox row for each change, and none for a refused one', async () => {
    const before = (await changes()).length;
    const made = await make({ name: 'noted' });
    await api.call('PATCH', made.path, { body: { name: 'noted-2' } });
    await api.call('PATCH', made.path, { body: { name: 'twin' } });
    await api.call('DELETE', made.path);
    expect((await changes()).slice(before)).toEqual([
      { environment: 'production', action: 'service.created', entity_id: made.id },
      { environment: 'production', action: 'service.updated', entity_id: made.id },
      { environment: 'production', action: 'service.deleted', entity_id: made.id },
    ]);
  });

  function changes() {
    const query = api.db.selectFrom('config_outbox').select(['environment', 'action', 'entity_id']);
    return query.orderBy('id').execute();
  }

  async function stored(id: string) {
    const query = api.db.selectFrom('services').select('upstreams').where('id', '=', id);
    return (await query.executeTakeFirstOrThrow()).upstreams;
  }
});
