import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';

describe('the affinity of routes', () => {
  let api: TestApi;
  let service_id: string;
  let names = 0;

  beforeAll(async () => {
    api = await startTestApi();
    const body = { name: 'pay', environment: 'production', url: 'http://pay.example' };
    service_id = (await api.call('POST', '/v1/services', { body })).json.data?.id ?? '';
  });
  afterAll(() => api.close());

  function create(affinity?: unknown) {
    const name = `r-${(names += 1)}`;
    return api.call('POST', '/v1/routes', {
      body: { name, service_id, ...(affinity === undefined ? {} : { affinity }) },
    });
  }

  it('is shown as it was given, with its defaults, and replaced as a whole', async () => {
    expect((await create()).json.data).toMatchObject({ affinity: null });
    const made = await create({ by: 'header', header: 'X-Tenant', retry_elsewhere: true });
    expect(made.json.data).toMatchObject({
      affinity: { by: 'header', header: 'X-Tenant', cookie: null, retry_elsewhere: true },
    });
    const path = `/v1/routes/${made.json.data?.id ?? ''}`;
    const changed = await api.call('PATCH', path, { body: { affinity: { by: 'token' } } });
    expect(changed.json.data).toMatchObject({
      affinity: { by: 'token', header: null, cookie: null, retry_elsewhere: false },
    });
    const removed = await api.call('PATCH', path, { body: { affinity: null } });
    expect(removed.json.data).toMatchObject({ affinity: null });
  });

  it.each([
    [{ by: 'upstream_header' }],
    [{ by: 'upstream_header', header: 'X-Session' }],
    [{ by: 'upstream_cookie', cookie: '__Host-sid' }],
    [{ by: 'gateway_cookie' }],
    [{ by: 'gateway_cookie', cookie: 'lb' }],
    [{ by: 'ip' }],
  ])('may be %j', async (affinity) => {
    expect((await create(affinity)).status).toBe(201);
  });

  it.each([
    [{}, 'by', 'is required'],
    [{ by: 'host' }, 'by', 'must be one of token, ip, header, '],
    [{ by: 'header' }, 'header', 'is required with by header'],
    [{ by: 'header', header: null, cookie: 'a' }, 'header', 'is required with by header'],
    [{ by: 'header', header: 'X', cookie: 'a' }, 'cookie', 'must be null with by header'],
    [{ by: 'upstream_cookie' }, 'cookie', 'is required with by upstream_cookie'],
    [{ by: 'token', header: 'X' }, 'header', 'must be null with by token'],
    [{ by: 'ip', cookie: 'a' }, 'cookie', 'must be null with by ip'],
    [{ by: 'header', header: 'a b' }, 'header', 'must be the name of a header field'],
    [{ by: 'header', header: 'x'.repeat(129) }, 'header', 'must be at most 128 characters'],
    [{ by: 'upstream_cookie', cookie: 'a=b' }, 'cookie', 'must be the name of a cookie'],
    [
      { by: 'gateway_cookie', cookie: '__Host-lb' },
      'cookie',
      'must not begin with __Host- or __Secure- with by gateway_cookie',
    ],
    ...[
      ...['Authorization', 'Host', 'cookie', 'Set_Cookie', 'X-Request-Id', 'X-Gateway-Error'],
      ...['Content-Length', 'Transfer-Encoding', 'X-Forwarded-For', 'X-RateLimit-Limit'],
    ].map(
      (header) =>
        [
          { by: 'upstream_header', header },
          'header',
          'must not be a field that frames or authenticates a request, or that the gateway sets',
        ] as const,
    ),
    [{ by: 'token', ttl: 1 }, 'ttl', 'is not a known field'],
  ])('is refused as %j', async (affinity, field, message) => {
    const { status, json } = await create(affinity);
    expect(status).toBe(400);
    const details = json.error?.['details'] as { path: string; message: string }[];
    const found = details.find((one) => one.path === `affinity.${field}`);
    expect(found?.message ?? details).toContain(message);
  });

  it('is nothing for a route that answers itself', async () => {
    const name = `r-${(names += 1)}`;
    const respond = { status: 200 };
    const details = [{ path: 'affinity', message: 'must be null on a route that answers itself' }];
    const body = { name, environment: 'production', respond, affinity: { by: 'token' } };
    const refused = await api.call('POST', '/v1/routes', { body });
    expect([refused.status, refused.json.error?.['details']]).toEqual([400, details]);
    const made = await create({ by: 'token' });
    const path = `/v1/routes/${made.json.data?.id ?? ''}`;
    const changed = await api.call('PATCH', path, { body: { respond } });
    expect([changed.status, changed.json.error?.['details']]).toEqual([400, details]);
    const both = await api.call('PATCH', path, { body: { respond, affinity: null } });
    expect(both.status).toBe(200);
  });

  it('is exported without its defaults', async () => {
    await create({ by: 'upstream_header' });
    const exported = await api.call('GET', '/v1/environments/production/export');
    expect(exported.text).toContain('"affinity":{"by":"upstream_header"}');
    expect(exported.text).not.toContain('"affinity":null');
  });
});
