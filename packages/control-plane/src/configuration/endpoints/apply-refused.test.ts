import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { DOCUMENT, faultsOf, newAppliedEnvironment } from '../../../test/applied-environment.ts';
import { expectError } from '../../../test/expect-error.ts';
import { startTestApi, type TestApi } from '../../../test/api.ts';

let api: TestApi;
beforeAll(async () => void (api = await startTestApi()));
afterAll(() => api.close());

describe('a refused apply', () => {
  it('changes nothing unless if_version is the newest version', async () => {
    const { name, apply, changes } = await newAppliedEnvironment(api);
    expectError(await apply({ ...DOCUMENT, if_version: -1 }), 400, 'invalid_request');
    expectError(await apply({ ...DOCUMENT, if_version: 1 }), 412, 'precondition_failed');
    expect((await apply({ services: [], if_version: 0 })).status).toBe(200);
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

  it('changes nothing while if_version is that of an environment that had the name before', async () => {
    const { name, path, apply, changes } = await newAppliedEnvironment(api);
    const version = await api.publish(name);
    await api.call('DELETE', path);
    await api.call('POST', '/v1/environments', { body: { name } });
    for (const dry_run of [true, false]) {
      const refused = await apply({ ...DOCUMENT, if_version: version, dry_run });
      expectError(refused, 412, 'precondition_failed');
    }
    expect(await changes()).toEqual([]);
    const own = await api.publish(name);
    expect((await apply({ ...DOCUMENT, if_version: own })).status).toBe(200);
  });

  it('names every fault by resource and JSON pointer, and changes nothing', async () => {
    const { name, apply, changes } = await newAppliedEnvironment(api);
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
      faultsOf(faulty)
        .map(({ path }) => path)
        .sort(),
    ).toEqual([
      '/routes/0/timeout_ms',
      '/services/0/url',
      '/services/1/health_check/interval_ms',
      '/services/2/col~1our',
      '/services/2/name',
    ]);
    expect(faultsOf(faulty).find(({ path }) => path === '/routes/0/timeout_ms')?.message).toBe(
      'route r: must be a whole number from 1 to 300000',
    );
    const twice = await apply({ services: [...DOCUMENT.services, DOCUMENT.services[0]] });
    expect(faultsOf(twice)).toEqual([
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
    expect(faultsOf(missing)).toEqual([
      {
        path: '/routes/0/service',
        message: `route a: must be the name of a service in the document or in the environment ${name}`,
      },
      { path: '/routes/1/versions/0/service', message: expect.stringContaining('route b: ') },
    ]);
    const unreplaced = await apply({
      services: [
        {
          name: 'new',
          url: 'http://new.example',
          credential: { type: 'bearer', token: '${NEW_TOKEN}' },
        },
      ],
      routes: [{ name: 'r', service: 'new' }],
    });
    expect(faultsOf(unreplaced)).toMatchObject([{ path: '/services/0/credential' }]);
    const denied = await apply({ services: [{ name: 'meta', url: 'http://169.254.169.254' }] });
    expect(faultsOf(denied)).toMatchObject([{ path: '/services/0/url' }]);
    for (const body of [[], { services: {} }, { colour: 1 }, { environment: 'production' }]) {
      expectError(await apply(body), 400, 'invalid_request');
    }
    expect(await changes()).toEqual([]);
  });

  it('changes nothing at all if Postgres refuses one of the changes', async () => {
    const { apply, changes, dump } = await newAppliedEnvironment(api);
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

  it('needs the write scopes and the routes of the document; a dry run needs the read scopes', async () => {
    const { name, apply, path } = await newAppliedEnvironment(api);
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
    // Who may not apply learns nothing of the document either.
    for (const caller of [reader, other]) {
      expectError(await apply({ services: 'nonsense' }, caller), 401, 'authentication_failed');
    }
    const elsewhere = await api.call('GET', `${path}/export`, { token: other });
    expectError(elsewhere, 401, 'authentication_failed');
  });

  it('refuses a body above 16 MiB', async () => {
    const { apply } = await newAppliedEnvironment(api);
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
});
