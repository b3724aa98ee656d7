import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { startTestApi, type Answer, type TestApi } from '../../test/api.ts';

const METADATA = '169.254.169.254';

/** The addresses of names. All other names have none. */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'good.example': ['192.0.2.1', '2001:db8::1'],
  'inside.example': [METADATA],
  'inside.example.': [METADATA],
  'both.example': ['192.0.2.1', METADATA],
  'translated.example': [`64:ff9b::${METADATA}`],
  // bücher.example
  'xn--bcher-kva.example': [METADATA],
};
const REFUSED = [
  'http://inside.example',
  'https://INSIDE.example:8443/base',
  'http://inside.example.',
  'http://both.example',
  'http://translated.example',
  'http://b\u00fccher.example/',
];

describe('a URL whose host is a name', () => {
  let api: TestApi;
  const asked: string[] = [];
  const openTransactions: unknown[] = [];
  let made = 0;

  beforeAll(async () => {
    api = await startTestApi({
      async resolveName(name) {
        asked.push(name);
        const { rows } = await sql`
          SELECT pid FROM pg_stat_activity
          WHERE datname = current_database() AND state LIKE 'idle in transaction%'
        `.execute(api.db);
        openTransactions.push(...rows);
        return ADDRESSES[name] ?? [];
      },
    });
  });
  afterAll(() => api.close());

  const service = (fields: object, token?: string) => {
    const body = { name: `service ${(made += 1)}`, environment: 'production', ...fields };
    return api.call('POST', '/v1/services', { body, ...(token !== undefined && { token }) });
  };
  const jwt = (jwks_url: string) => ({ type: 'jwt', issuer: 'i', audience: 'a', jwks_url });

  function expectRefused(answer: Answer, ...paths: string[]): void {
    expect([answer.status, answer.json.error?.['code']]).toEqual([400, 'invalid_request']);
    expect(answer.json.error?.['details']).toMatchObject(paths.map((path) => ({ path })));
    expect(answer.text).toContain('UPSTREAM_DENY_CIDRS');
    // The address would reveal internal names.
    expect(answer.text).not.toContain(METADATA);
  }

  it.each(REFUSED)('%s is refused if any of its addresses is denied', async (url) => {
    const { path, id } = await existing();
    expectRefused(await service({ url }), 'url');
    expectRefused(await api.call('PATCH', path, { body: { url } }), 'url');
    const upstreams = [{ url: 'http://good.example' }, { url }];
    expectRefused(await service({ upstreams }), 'upstreams.1.url');
    expectRefused(await api.call('PATCH', path, { body: { upstreams } }), 'upstreams.1.url');

    const route = { name: `route-${(made += 1)}`, service_id: id };
    const refused = { ...route, auth: jwt(`${url}?version=1`) };
    expectRefused(await api.call('POST', '/v1/routes', { body: refused }), 'auth.jwks_url');
    const { headers } = await api.call('POST', '/v1/routes', { body: route });
    const changed = { body: { auth: jwt(url) } };
    const answer = await api.call('PATCH', headers.get('location') ?? '', changed);
    expectRefused(answer, 'auth.jwks_url');
    const put = (of: string, body: object) =>
      api.call('PUT', `/v1/${of}/put?environment=production`, { body });
    expectRefused(await put('services', { upstreams }), 'upstreams.1.url');
    expectRefused(await put('routes', { service_id: id, auth: jwt(url) }), 'auth.jwks_url');
    const body = {
      services: [
        { name: 'one', url },
        { name: 'two', upstreams },
      ],
      routes: [{ name: 'r', service: 'one', auth: jwt(url) }],
    };
    const applied = await api.call('POST', '/v1/environments/production/apply', { body });
    const paths = ['/services/0/url', '/services/1/upstreams/1/url', '/routes/0/auth/jwks_url'];
    expectRefused(applied, ...paths);
    expect((await api.call('GET', path)).json.data?.['url']).toBe('http://good.example');
  });

  it('is accepted if its addresses are allowed, or if it does not resolve', async () => {
    for (const url of ['http://good.example', 'http://unknown.example']) {
      const taken = await service({ url });
      expect([taken.status, taken.json.data?.['url']]).toEqual([201, url]);
      const body = { name: `r-${(made += 1)}`, service_id: taken.json.data?.id, auth: jwt(url) };
      expect((await api.call('POST', '/v1/routes', { body })).status).toBe(201);
    }
  });

  it('is looked up once for all fields, outside of any transaction, and only if it is set', async () => {
    const { path } = await existing();
    asked.length = 0;
    const upstreams = ['a', 'b'].map((base) => ({ url: `http://good.example/${base}` }));
    expect((await service({ upstreams })).status).toBe(201);
    expect((await api.call('PATCH', path, { body: { upstreams } })).status).toBe(200);
    expect(asked).toEqual(['good.example', 'good.example']);
    expect((await api.call('PATCH', path, { body: { health_path: '/up' } })).status).toBe(200);
    expect((await service({ url: 'http://192.0.2.1' })).status).toBe(201);
    expect((await service({ url: 'http://[2001:db8::1]' })).status).toBe(201);
    expect(asked).toHaveLength(2);
    expect(openTransactions).toEqual([]);
  });

  it('is not looked up for a caller who may not set it', async () => {
    const { path, id } = await existing();
    const url = 'http://inside.example';
    const body = { name: `r-${(made += 1)}`, service_id: id };
    const { headers } = await api.call('POST', '/v1/routes', { body });
    const reach = { environments: ['development'], routes: ['*'] };
    const scopes = ['services:write', 'routes:write'];
    const token = await api.makeToken({ name: 'elsewhere', ...reach, scopes });
    asked.length = 0;
    const answers = [
      await service({ url }, token),
      await api.call('PATCH', path, { body: { url }, token }),
      await api.call('POST', '/v1/routes', { body: { ...body, auth: jwt(url) }, token }),
      await api.call('PATCH', headers.get('location') ?? '', { body: { auth: jwt(url) }, token }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect(asked).toEqual([]);
  });

  async function existing(): Promise<{ path: string; id: string }> {
    const { json, headers } = await service({ url: 'http://good.example' });
    return { path: headers.get('location') ?? '', id: json.data?.id ?? '' };
  }
});
