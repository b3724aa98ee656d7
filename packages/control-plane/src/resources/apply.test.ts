import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { expectError } from '../../test/expect-error.ts';
import { startTestApi, type Answer, type TestApi } from '../../test/api.ts';

let api: TestApi;
let environments = 0;
beforeAll(async () => void (api = await startTestApi()));
afterAll(() => api.close());

/** A new environment, and calls of it. */
async function open() {
  const name = `applied-${(environments += 1)}`;
  await api.call('POST', '/v1/environments', { body: { name } });
  const path = `/v1/environments/${name}`;
  const apply = (body: object, token = api.adminToken) =>
    api.call('POST', `${path}/apply`, { body, token });
  const dump = async () =>
    ((await api.call('GET', `${path}/export`)).json.data ?? {}) as Record<string, unknown>;
  const changes = async () =>
    (
      await api.db
        .selectFrom('config_outbox')
        .select('action')
        .where('environment', '=', name)
        .where('kind', 'in', ['service', 'route'])
        .orderBy('id')
        .execute()
    ).map(({ action }) => action);
  return { name, path, apply, dump, changes };
}

const details = ({ json }: Answer) =>
  json.error?.['details'] as { path: string; message: string }[];
const summary = ({ json }: Answer) => {
  const { services, routes, changed } = (json.data ?? {}) as Record<string, unknown>;
  return { services, routes, changed };
};
const counts = (created = 0, updated = 0, deleted = 0, unchanged = 0) => {
  return { created, updated, deleted, unchanged };
};

const DOCUMENT = {
  services: [
    { name: 'pay', url: 'http://pay.example' },
    { name: 'pay-2', upstreams: [{ url: 'http://a.example', region: 'eu' }] },
  ],
  routes: [
    { name: 'charges', service: 'pay', timeout_ms: 5000 },
    {
      name: 'refunds',
      versions: [
        { name: 'stable', service: 'pay', weight: 9 },
        { name: 'canary', service: 'pay-2', weight: 1 },
      ],
    },
  ],
};

describe('POST /v1/environments/{name}/apply', () => {
  it('creates what a document declares, and the same document again changes nothing', async () => {
    const { name, apply, changes } = await open();
    const first = await apply(DOCUMENT);
    expect(first.status).toBe(200);
    expect(summary(first)).toEqual({ services: counts(2), routes: counts(2), changed: true });
    expect(await changes()).toEqual([
      'service.created',
      'service.created',
      'route.created',
      'route.created',
    ]);
    const routes = await api.call('GET', `/v1/routes?environment=${name}`);
    const byName = routes.json.data?.toSorted((a, b) =>
      String(a['name']) < String(b['name']) ? -1 : 1,
    );
    expect(byName).toMatchObject([
      { name: 'charges', timeout_ms: 5000, retry_count: 2 },
      { name: 'refunds', service_id: null },
    ]);
    const again = await apply(DOCUMENT);
    expect(summary(again)).toEqual({
      services: counts(0, 0, 0, 2),
      routes: counts(0, 0, 0, 2),
      changed: false,
    });
    expect(again.json.data?.['changes']).toEqual([]);
    expect(await changes()).toHaveLength(4);
  });

  it('is one version of the configuration, with an audit event for each change', async () => {
    const { name, apply } = await open();
    await api.publish(name);
    const answer = await apply(DOCUMENT);
    const version = await api.publish(name);
    const versions = await api.call('GET', `/v1/environments/${name}/versions`);
    expect(versions.json.data?.[0]).toMatchObject({ version, changes: 4 });
    const id = answer.headers.get('x-request-id') ?? '';
    const events = await api.call('GET', `/v1/audit-events?request_id=${id}`);
    expect(events.json.data).toHaveLength(4);
  });

  it('shows the old and the new value of each field that changes', async () => {
    const { apply } = await open();
    await apply(DOCUMENT);
    const changed = await apply({
      services: [{ name: 'pay', url: 'http://new.example', limits: { max_in_flight: 7 } }],
      routes: [{ name: 'charges', service: 'pay-2', rate_limit: { limit: 10 } }],
    });
    expect(summary(changed)).toEqual({
      services: counts(0, 1),
      routes: counts(0, 1),
      changed: true,
    });
    const all = changed.json.data?.['changes'] as { fields: object[] }[];
    expect(all).toMatchObject([
      { resource_type: 'service', name: 'pay', action: 'updated', before: null, after: null },
      { resource_type: 'route', name: 'charges', action: 'updated' },
    ]);
    expect(all[0]?.fields).toEqual([
      { path: '/url', before: 'http://pay.example', after: 'http://new.example' },
      { path: '/limits/max_in_flight', before: null, after: 7 },
    ]);
    expect(all[1]?.fields).toEqual([
      { path: '/service', before: 'pay', after: 'pay-2' },
      { path: '/timeout_ms', before: 5000, after: 10_000 },
      { path: '/rate_limit/limit', before: 60_000, after: 10 },
    ]);
  });

  it('leaves out what a document does not declare, and deletes it with prune', async () => {
    const { apply, dump } = await open();
    await apply(DOCUMENT);
    const part = { services: DOCUMENT.services.slice(0, 1), routes: DOCUMENT.routes.slice(0, 1) };
    expect(summary(await apply(part))).toMatchObject({ changed: false });
    expect((await dump())['services']).toHaveLength(2);
    const pruned = await apply({ ...part, prune: true });
    expect(summary(pruned)).toEqual({
      services: counts(0, 0, 1, 1),
      routes: counts(0, 0, 1, 1),
      changed: true,
    });
    expect(pruned.json.data?.['changes']).toMatchObject([
      { name: 'pay-2', action: 'deleted', before: { name: 'pay-2' }, after: null },
      { name: 'refunds', action: 'deleted' },
    ]);
    const routesOnly = await apply({ routes: [], prune: true });
    expect(summary(routesOnly)).toMatchObject({ services: counts(), routes: counts(0, 0, 1) });
    expect((await dump())['services']).toHaveLength(1);
  });

  it('does not prune a service that a remaining route uses', async () => {
    const { apply, changes } = await open();
    await apply(DOCUMENT);
    const before = await changes();
    const refused = await apply({ services: [DOCUMENT.services[0]], prune: true });
    expectError(refused, 409, 'service_in_use');
    expect(refused.json.error?.['message']).toContain('pay-2 (by the route refunds)');
    expect(await changes()).toEqual(before);
  });

  it('shows the difference of a dry run, and changes nothing', async () => {
    const { apply, changes, dump } = await open();
    const dry = await apply({ ...DOCUMENT, dry_run: true });
    expect(dry.json.data).toMatchObject({ dry_run: true, changed: true, services: counts(2) });
    expect(dry.json.data?.['changes']).toMatchObject([
      { name: 'pay', action: 'created', resource_id: null, after: { url: 'http://pay.example' } },
      { name: 'pay-2' },
      { name: 'charges', after: { service: 'pay', timeout_ms: 5000, retry_count: 2 } },
      { name: 'refunds' },
    ]);
    expect(await changes()).toEqual([]);
    expect(await dump()).toMatchObject({ services: [], routes: [] });
    const real = await apply(DOCUMENT);
    const strip = (answer: Answer) =>
      (answer.json.data?.['changes'] as object[]).map((one) => ({ ...one, resource_id: null }));
    expect(strip(real)).toEqual(strip(dry));
  });

  it('changes nothing unless if_version is the newest version', async () => {
    const { name, apply, changes } = await open();
    const version = await api.publish(name);
    const stale = await apply({ ...DOCUMENT, if_version: version + 1 });
    expectError(stale, 412, 'precondition_failed');
    expect(await changes()).toEqual([]);
    expect((await apply({ ...DOCUMENT, if_version: version })).status).toBe(200);
    const pending = await apply({ ...DOCUMENT, if_version: version });
    expectError(pending, 412, 'precondition_failed');
    expect(pending.json.error?.['message']).toContain('wait to be published');
    const next = await api.publish(name);
    expect((await apply({ ...DOCUMENT, if_version: next, dry_run: true })).status).toBe(200);
  });

  it('names every fault by resource and JSON pointer, and changes nothing', async () => {
    const { name, apply, changes } = await open();
    const faulty = await apply({
      services: [
        { name: 'pay', url: 'nonsense' },
        { name: 'pay', url: 'http://a.example', health_check: { interval_ms: 1 } },
        { url: 'http://a.example', 'col/our': 1 },
      ],
      routes: [{ name: 'r', service: 'pay', timeout_ms: 'x' }],
    });
    expectError(faulty, 400, 'invalid_request');
    expect(
      details(faulty)
        .map(({ path }) => path)
        .sort(),
    ).toEqual([
      '/routes/0/timeout_ms',
      '/services/0/url',
      '/services/1/health_check/interval_ms',
      '/services/2/col~1our',
      '/services/2/name',
    ]);
    expect(details(faulty).find(({ path }) => path === '/routes/0/timeout_ms')?.message).toBe(
      'route r: must be a whole number from 1 to 300000',
    );
    const twice = await apply({ services: [...DOCUMENT.services, DOCUMENT.services[0]] });
    expect(details(twice)).toEqual([
      {
        path: '/services/2/name',
        message: 'service pay: is the name of another service in the document, at /services/0',
      },
    ]);
    const missing = await apply({
      ...DOCUMENT,
      routes: [
        { name: 'a', service: 'gone' },
        { name: 'b', versions: [{ name: 'v', service: 'lost', weight: 1 }] },
      ],
    });
    expect(details(missing)).toEqual([
      {
        path: '/routes/0/service',
        message: `route a: must be the name of a service in the document or in the environment ${name}`,
      },
      { path: '/routes/1/versions/0/service', message: expect.stringContaining('route b: ') },
    ]);
    const denied = await apply({ services: [{ name: 'meta', url: 'http://169.254.169.254' }] });
    expect(details(denied)).toMatchObject([{ path: '/services/0/url' }]);
    for (const body of [[], { services: {} }, { colour: 1 }, { environment: 'production' }]) {
      expectError(await apply(body), 400, 'invalid_request');
    }
    expect(await changes()).toEqual([]);
  });

  it('changes nothing at all if Postgres refuses one of the changes', async () => {
    const { apply, changes, dump } = await open();
    await sql`
      CREATE FUNCTION refuse_route() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.name = 'refused' THEN RAISE EXCEPTION 'refused'; END IF;
        RETURN NEW;
      END $$
    `.execute(api.db);
    await sql`
      CREATE TRIGGER refuse BEFORE INSERT ON routes FOR EACH ROW EXECUTE FUNCTION refuse_route()
    `.execute(api.db);
    const routes = [...DOCUMENT.routes, { name: 'refused', service: 'pay' }];
    expectError(await apply({ ...DOCUMENT, routes }), 500, 'internal_error');
    await sql`DROP TRIGGER refuse ON routes`.execute(api.db);
    expect(await dump()).toMatchObject({ services: [], routes: [] });
    expect(await changes()).toEqual([]);
  });

  it('applies the same document once if it is sent many times at once', async () => {
    const { apply, changes } = await open();
    const answers = await Promise.all(Array.from({ length: 6 }, () => apply(DOCUMENT)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(answers.filter(({ json }) => json.data?.['changed'] === true)).toHaveLength(1);
    expect(await changes()).toHaveLength(4);
  });

  it('needs the write scopes and the routes of the document; a dry run needs the read scopes', async () => {
    const { name, apply, path } = await open();
    await apply(DOCUMENT);
    const token = (fields: object) =>
      api.makeToken({ name: `t-${Math.random()}`.slice(0, 20), environments: [name], ...fields });
    const reader = await token({ scopes: ['services:read', 'routes:read'] });
    expect((await apply({ ...DOCUMENT, dry_run: true }, reader)).status).toBe(200);
    const refused = await apply(DOCUMENT, reader);
    expectError(refused, 401, 'authentication_failed');
    expect(refused.headers.get('www-authenticate')).toContain(
      'scope="services:write routes:write"',
    );
    const scopes = ['services:write', 'routes:write', 'services:read', 'routes:read'];
    const narrow = await token({ scopes, routes: ['charges'] });
    expectError(await apply(DOCUMENT, narrow), 401, 'authentication_failed');
    const own = { routes: [{ name: 'charges', service: 'pay' }] };
    expect((await apply(own, narrow)).status).toBe(200);
    expectError(await apply({ ...own, prune: true }, narrow), 401, 'authentication_failed');
    const shown = await api.call('GET', `${path}/export`, { token: narrow });
    expect(shown.json.data?.['routes']).toMatchObject([{ name: 'charges' }]);
    const other = await api.makeToken({ name: 'elsewhere', environments: ['production'], scopes });
    expectError(await apply(own, other), 401, 'authentication_failed');
  });

  it('refuses a body above 16 MiB', async () => {
    const { apply } = await open();
    const body = { services: [{ name: 'x', url: 'x'.repeat(17 * 1024 * 1024) }] };
    const refused = await apply(body);
    expectError(refused, 413, 'payload_too_large');
    expect(refused.json.error?.['message']).toBe('The body is larger than 16 MiB.');
  });

  it('answers environment_not_found for an unknown environment', async () => {
    const answer = await api.call('POST', '/v1/environments/nowhere/apply', { body: DOCUMENT });
    expectError(answer, 404, 'environment_not_found');
    expectError(
      await api.call('GET', '/v1/environments/nowhere/export'),
      404,
      'environment_not_found',
    );
  });

  it('runs once with an idempotency key', async () => {
    const { path, changes } = await open();
    const send = () =>
      api.call('POST', `${path}/apply`, { body: DOCUMENT, headers: { 'idempotency-key': 'once' } });
    const [first, again] = [await send(), await send()];
    expect(again.json.data).toEqual(first.json.data);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await changes()).toHaveLength(4);
  });
});

describe('secrets of an apply', () => {
  const { certPem, keyPem } = createTestAuthority('upstreams').issue(['client.test']);
  const pair = { cert_pem: certPem, key_pem: keyPem };
  const withSecret = (value: string) => ({
    services: [
      {
        name: 'pay',
        url: 'https://pay.example',
        credential: { type: 'header', name: 'X-Key', value },
        tls: { client_certificate: pair },
      },
    ],
  });

  it('are never shown, and a secret that differs is named', async () => {
    const { apply, changes } = await open();
    const first = await apply(withSecret('marker-one'));
    const same = await apply(withSecret('marker-one'));
    expect(summary(same)).toMatchObject({ changed: false });
    const other = await apply(withSecret('marker-two'));
    expect(other.json.data?.['changes']).toMatchObject([
      {
        name: 'pay',
        fields: [{ path: '/credential', before: null, after: null, secret_changed: true }],
      },
    ]);
    for (const { text } of [first, same, other]) {
      expect(text).not.toContain('marker');
      expect(text).not.toContain('sealed');
      expect(text).not.toContain('PRIVATE KEY');
    }
    expect(await changes()).toEqual(['service.created', 'service.updated']);
  });

  it('are references in an export, and a reference keeps the secret', async () => {
    const { apply, dump, changes } = await open();
    await apply(withSecret('marker-one'));
    const exported = await dump();
    expect(exported).toMatchObject({
      services: [
        {
          credential: { type: 'header', name: 'x-key', value: '${PAY_VALUE}' },
          tls: { client_certificate: { cert_pem: certPem, key_pem: '${PAY_CLIENT_KEY}' } },
        },
      ],
    });
    expect(summary(await apply({ ...exported, prune: true }))).toMatchObject({ changed: false });
    expect(await changes()).toEqual(['service.created']);
    const empty = await open();
    const refused = await empty.apply({ ...exported, environment: empty.name });
    expect(details(refused)).toEqual([
      {
        path: '/services/0/credential',
        message:
          'service pay: is a reference that was not replaced, and there is no such credential',
      },
    ]);
  });

  it('are removed if the document leaves them out', async () => {
    const { apply, dump } = await open();
    await apply(withSecret('marker-one'));
    await apply({ services: [{ name: 'pay', url: 'https://pay.example' }] });
    expect((await dump())['services']).toEqual([{ name: 'pay', url: 'https://pay.example' }]);
  });
});

describe('GET /v1/environments/{name}/export', () => {
  it('is in the order of names and without defaults, whatever the order of creation', async () => {
    const { name, apply, dump } = await open();
    await apply({ services: DOCUMENT.services.toReversed(), routes: DOCUMENT.routes.toReversed() });
    expect(await dump()).toEqual({ environment: name, ...DOCUMENT });
  });

  it('applied as it is changes nothing, and makes the same environment elsewhere', async () => {
    const names = ['a', 'b', 'c'];
    const service = fc.record(
      {
        url: fc.constantFrom('http://a.example', 'https://b.example/base'),
        health_path: fc.constantFrom('/healthz', '/up'),
        health_check: fc.record(
          {
            path: fc.constantFrom(null, '/live'),
            interval_ms: fc.integer({ min: 500, max: 9000 }),
          },
          { requiredKeys: [] },
        ),
        limits: fc.record({ max_pending: fc.constantFrom(null, 3) }, { requiredKeys: [] }),
        tls: fc.constantFrom(null, { server_name: 'inner.example' }),
      },
      { requiredKeys: ['url'] },
    );
    const route = fc.record(
      {
        service: fc.constantFrom(...names),
        timeout_ms: fc.integer({ min: 1, max: 300_000 }),
        methods: fc.constantFrom(null, ['GET'], ['POST', 'GET']),
        auth: fc.constantFrom<object>(
          { type: 'none' },
          { type: 'jwt', issuer: 'i', audience: 'a', jwks_url: 'https://keys.example' },
        ),
        retry: fc.record({ backoff_ms: fc.nat(100) }),
        regions: fc.constantFrom([], ['eu']),
        status: fc.constantFrom('active', 'disabled'),
      },
      { requiredKeys: ['service'] },
    );
    const [from, to] = [await open(), await open()];
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(service, service, service),
        fc.array(route, { maxLength: 4 }),
        async (services, routes) => {
          const document = {
            services: services.map((one, at) => ({ name: names[at], ...one })),
            routes: routes.map((one, at) => ({ name: `r${at}`, ...one })),
            prune: true,
          };
          const applied = await from.apply(document);
          expect({ status: applied.status, text: applied.text }).toMatchObject({ status: 200 });
          const exported = await from.dump();
          expect(summary(await from.apply({ ...exported, prune: true }))).toMatchObject({
            changed: false,
          });
          await to.apply({ ...exported, environment: to.name, prune: true });
          expect({ ...(await to.dump()), environment: from.name }).toEqual(exported);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('a document with 1000 routes', () => {
  it('is applied in less than 3 s, and again without a change', async () => {
    const { name, apply } = await open();
    const services = Array.from({ length: 20 }, (_, at) => ({
      name: `service-${at}`,
      url: `http://s${at}.example`,
    }));
    const routesOf = (timeout_ms: number) =>
      Array.from({ length: 1000 }, (_, at) => ({
        name: `route-${at}`,
        service: `service-${at % 20}`,
        timeout_ms,
      }));
    const timed = async (body: object) => {
      const startedMs = performance.now();
      const answer = await apply(body);
      expect(answer.status).toBe(200);
      const tookMs = performance.now() - startedMs;
      if (process.env['TEST_LOG']) process.stderr.write(`1000 routes: ${Math.round(tookMs)} ms\n`);
      expect(tookMs).toBeLessThan(3000);
      return answer;
    };
    const created = await timed({ services, routes: routesOf(5000) });
    expect(summary(created)).toMatchObject({ routes: counts(1000) });
    await api.publish(name);
    const again = await timed({ services, routes: routesOf(5000) });
    expect(summary(again)).toMatchObject({ changed: false, routes: counts(0, 0, 0, 1000) });
    expect(summary(await timed({ services, routes: routesOf(4000) }))).toMatchObject({
      routes: counts(0, 1000),
    });
    expect(summary(await timed({ services: [], routes: [], prune: true }))).toMatchObject({
      services: counts(0, 0, 20),
      routes: counts(0, 0, 1000),
    });
  });
});
