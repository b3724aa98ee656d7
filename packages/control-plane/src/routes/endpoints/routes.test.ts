import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { sql } from 'kysely';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { etagOf } from '../../http/etag.ts';
import { holdRouteNames } from '../../access/store/tokens-of-routes.ts';
import { LOCK_CLASS } from '../../store/locks.ts';

describe('/v1/routes', () => {
  let api: TestApi;
  let serviceId: string;
  let otherServiceId: string;

  beforeAll(async () => {
    api = await startTestApi();
    serviceId = await makeService('pay', 'production');
    otherServiceId = await makeService('dev', 'development');
  });

  afterAll(async () => {
    await api.close();
  });

  async function makeService(name: string, environment: string): Promise<string> {
    const body = { name, environment, url: 'http://pay.example' };
    return (await api.call('POST', '/v1/services', { body })).json.data?.id ?? '';
  }

  async function make(fields: object) {
    const body = { service_id: serviceId, ...fields };
    const { status, headers, json, text } = await api.call('POST', '/v1/routes', { body });
    if (status !== 201) throw new Error(text);
    return { id: json.data?.id ?? '', data: json.data, path: headers.get('location') ?? '' };
  }

  describe('is not renamed while tokens name it', () => {
    /** Asks for another name; the message if that is refused. */
    const rename = async (path: string, name: string, token?: string) => {
      const { status, json } = await api.call('PATCH', path, {
        body: { name },
        ...(token !== undefined && { token }),
      });
      if (status === 200) return undefined;
      expect([status, json.error?.['code']]).toEqual([409, 'in_use']);
      expect(json.error?.['details']).toMatchObject([{ path: 'name' }]);
      return json.error?.['message'];
    };
    const nameRoute = (name: string, route: string, fields: object = {}) =>
      api.makeToken({
        name,
        environments: ['production'],
        routes: [route],
        scopes: ['proxy'],
        ...fields,
      });

    it('names the tokens that the caller covers, and counts the others', async () => {
      const { path } = await make({ name: 'named' });
      await nameRoute('one', 'named');
      await nameRoute('two', 'named', {
        routes: ['named', 'other'],
        scopes: ['proxy', 'audit:read'],
      });
      await nameRoute('all environments', 'named', { environments: ['*'] });
      const all = 'These tokens name the route named: all environments, one, two.';
      expect(await rename(path, 'renamed')).toBe(all);
      const scopes = ['routes:write', 'routes:read', 'proxy'];
      const routes = ['named', 'renamed'];
      const reach = { environments: ['production'], routes, scopes: [...scopes, 'tokens:read'] };
      // The caller names the route itself.
      const some = await api.makeToken({ ...reach, name: 'some' });
      expect(await rename(path, 'renamed', some)).toBe(
        'These tokens name the route named: one, some, 2 more.',
      );
      const none = await api.makeToken({ ...reach, name: 'none', scopes });
      expect(await rename(path, 'renamed', none)).toBe(
        'These tokens name the route named: 5 that the token does not cover.',
      );
      // The other fields change as before, and the same name is no new one.
      const { status } = await api.call('PATCH', path, { body: { name: 'named', timeout_ms: 77 } });
      expect(status).toBe(200);
    });

    it('also while it is disabled, but not for tokens of all routes, of another environment, expired or revoked', async () => {
      const { path } = await make({ name: 'free', status: 'disabled' });
      await nameRoute('of all routes', '*');
      await nameRoute('of development', 'free', { environments: ['development'] });
      const { rows } = await sql<{
        id: string;
      }>`SELECT id FROM tokens WHERE name = 'of development'`.execute(api.db);
      expect(rows).toHaveLength(1);
      await nameRoute('ended', 'free');
      await sql`UPDATE tokens SET expires_at = now() - interval '1 s' WHERE name = 'ended'`.execute(
        api.db,
      );
      await nameRoute('revoked', 'free');
      expect(await rename(path, 'freed')).toBe('These tokens name the route free: revoked.');
      await sql`UPDATE tokens SET revoked_at = now() WHERE name = 'revoked'`.execute(api.db);
      expect(await rename(path, 'freed')).toBeUndefined();
    });

    it('nor by a rollback', async () => {
      const { id, path } = await make({ name: 'before' });
      const { path: other } = await make({ name: 'unnamed-before' });
      const version = await api.publish('production');
      expect(await rename(path, 'after')).toBeUndefined();
      expect(await rename(other, 'unnamed-after')).toBeUndefined();
      await nameRoute('of the new name', 'after');
      const rollBack = (dry_run = false) =>
        api.call('POST', '/v1/environments/production/rollback', { body: { version, dry_run } });
      const refused = await rollBack();
      expect([refused.status, refused.json.error?.['code']]).toEqual([409, 'in_use']);
      expect(refused.json.error?.['details']).toMatchObject([{ path: 'version' }]);
      expect(refused.json.error?.['message']).toBe(
        'These tokens name the route after: of the new name.',
      );
      expect((await rollBack(true)).status).toBe(409);
      expect((await api.call('GET', `/v1/routes/${id}`)).json.data?.['name']).toBe('after');
      await sql`UPDATE tokens SET revoked_at = now() WHERE name = 'of the new name'`.execute(
        api.db,
      );
      expect((await rollBack()).status).toBe(200);
      expect((await api.call('GET', `/v1/routes/${id}`)).json.data?.['name']).toBe('before');
    });

    it('if a token of that name is created at the same time', async () => {
      const { path } = await make({ name: 'contended' });
      const { promise: isNamed, resolve: named } = Promise.withResolvers<undefined>();
      const { promise: mayCommit, resolve: commit } = Promise.withResolvers<undefined>();
      // A creation that is not committed yet, as the one of a slow control plane.
      const creating = api.db.transaction().execute(async (transaction) => {
        await holdRouteNames(transaction);
        await sql`INSERT INTO tokens (id, name, environments, routes, scopes, secret_sha256, created_at, updated_at)
          VALUES ('tok_raced', 'racing', '{production}', '{contended}', '{proxy}', '\\x00', now(), now())`.execute(
          transaction,
        );
        named(undefined);
        await mayCommit;
      });
      await isNamed;
      const renaming = rename(path, 'winner');
      await eventually(async () => {
        const { rows } =
          await sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND classid = ${LOCK_CLASS.routeNames}
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`.execute(
            api.db,
          );
        expect(rows).toHaveLength(1);
      });
      commit(undefined);
      await creating;
      expect(await renaming).toBe('These tokens name the route contended: racing.');
    });
  });

  it('creates a named route to an existing service, in the environment of that service', async () => {
    const made = await make({ name: 'payments', timeout_ms: 5000, retry_count: 3 });
    expect(made.data).toMatchObject({
      id: expect.stringMatching(/^rte_[0-9a-z]{26}$/),
      name: 'payments',
      service_id: serviceId,
      versions: null,
      environment: 'production',
      status: 'active',
      timeout_ms: 5000,
      retry_count: 3,
      rate_limit: { limit: 60_000, window_seconds: 60 },
      revision: 1,
      created_at: '2030-01-01T00:00:00.000Z',
      updated_at: '2030-01-01T00:00:00.000Z',
    });
    expect((await api.call('GET', made.path)).json.data).toEqual(made.data);
  });

  it('refuses a name that is taken in the environment, and accepts it in another', async () => {
    await make({ name: 'twin' });
    const again = await api.call('POST', '/v1/routes', {
      body: { name: 'twin', service_id: serviceId },
    });
    expect(again.status).toBe(409);
    expect(again.json.error).toMatchObject({
      code: 'name_conflict',
      details: [{ path: 'name', message: 'is taken' }],
    });
    const other = await make({ name: 'twin', service_id: otherServiceId });
    expect(other.data).toMatchObject({ environment: 'development' });
  });

  it('gives a name to exactly one of many that ask for it at once', async () => {
    const body = { name: 'raced', service_id: serviceId };
    const calls = Array.from({ length: 8 }, () => api.call('POST', '/v1/routes', { body }));
    const statuses = (await Promise.all(calls)).map((answer) => answer.status).sort();
    expect(statuses).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  });

  it.each(['svc_00000000000000000000000000', 'nonsense', 'a\u0000b', ''])(
    'names service_id if no service has the id %j',
    async (id) => {
      const { status, json } = await api.call('POST', '/v1/routes', {
        body: { name: 'lost', service_id: id },
      });
      expect({ status, details: json.error?.['details'] }).toEqual({
        status: 400,
        details: [{ path: 'service_id', message: 'must be the id of a service' }],
      });
    },
  );

  it('changes the fields in a PATCH and no others', async () => {
    const made = await make({ name: 'changing', rate_limit: { limit: 5, per: 'token' } });
    const changed = await api.call('PATCH', made.path, {
      body: { status: 'disabled', methods: ['GET', 'POST'], rate_limit: { window_seconds: 1 } },
    });
    expect(changed.headers.get('etag')).toBe(etagOf({ ...made, revision: 2 }));
    expect(changed.json.data).toMatchObject({
      status: 'disabled',
      methods: ['GET', 'POST'],
      rate_limit: { limit: 5, window_seconds: 1, per: 'token' },
      timeout_ms: 10_000,
    });
    const back = await api.call('PATCH', made.path, { body: { methods: null } });
    expect(back.json.data).toMatchObject({ methods: null, revision: 3 });
  });

  it('moves to another service of its environment only', async () => {
    const made = await make({ name: 'moving' });
    const sibling = await makeService('sibling', 'production');
    const moved = await api.call('PATCH', made.path, { body: { service_id: sibling } });
    expect(moved.json.data).toMatchObject({ service_id: sibling });
    const refused = await api.call('PATCH', made.path, { body: { service_id: otherServiceId } });
    expect(refused.status).toBe(400);
    expect(refused.json.error?.['details']).toMatchObject([{ path: 'service_id' }]);
    const unknown = { service_id: 'svc_00000000000000000000000000' };
    expect((await api.call('PATCH', made.path, { body: unknown })).status).toBe(400);
  });

  it('refuses to be renamed to a name that is taken', async () => {
    await make({ name: 'first' });
    const made = await make({ name: 'second' });
    expect((await api.call('PATCH', made.path, { body: { name: 'first' } })).status).toBe(409);
  });

  it('lists by environment, service and name', async () => {
    const mine = await makeService('listing', 'production');
    const made = await make({ name: 'listed', service_id: mine });
    const ids = async (query: string) =>
      (await api.call('GET', `/v1/routes?${query}`)).json.data?.map((one) => one.id);
    expect(await ids(`service_id=${mine}`)).toEqual([made.id]);
    expect(await ids('environment=production&name=listed')).toEqual([made.id]);
    expect(await ids('environment=development&name=listed')).toEqual([]);
    expect(await ids('service_id=nonsense')).toEqual([]);
  });

  it('finds routes by a part of the name and by the status, over all pages', async () => {
    const mine = await makeService('searched', 'production');
    for (const name of ['s.alpha', 's_alpha', 'alpha-s', 'beta']) {
      api.clock.advance(1);
      await make({ name, service_id: mine, status: name === 'alpha-s' ? 'disabled' : 'active' });
    }
    const names = async (query: string) => {
      const { json } = await api.call('GET', `/v1/routes?service_id=${mine}&${query}`);
      return { names: json.data?.map((one) => one['name']), next: json['next_cursor'] };
    };
    const found = async (query: string) => (await names(query)).names;
    expect(await found('search=ALPHA')).toEqual(['s.alpha', 's_alpha', 'alpha-s']);
    // Neither is a wildcard.
    expect(await found('search=s_')).toEqual(['s_alpha']);
    expect(await found('search=%25')).toEqual([]);
    expect(await found('search=')).toHaveLength(4);
    expect(await found('status=disabled')).toEqual(['alpha-s']);
    expect(await found('search=alpha&status=active')).toEqual(['s.alpha', 's_alpha']);
    const first = await names('search=alpha&limit=2');
    expect(await names(`search=alpha&limit=2&cursor=${String(first.next)}`)).toEqual({
      names: ['alpha-s'],
      next: null,
    });
  });

  it.each([
    ['search=a%00b', 'search', 'must be at most 63 characters without NUL'],
    [`search=${'x'.repeat(64)}`, 'search', 'must be at most 63 characters without NUL'],
    ['status=off', 'status', 'must be one of active, disabled'],
  ])('refuses the filter %s and names its parameter', async (filter, path, message) => {
    const { status, json } = await api.call('GET', `/v1/routes?${filter}`);
    expect(status).toBe(400);
    expect(json.error?.['details']).toEqual([{ path, message }]);
  });

  it.each([
    [`service_id=${'x'.repeat(65)}`, 'must be at most 64 characters'],
    ['service_id=a&service_id=b', 'must be given once'],
  ])('refuses the filter %s and says why', async (filter, message) => {
    const { status, json } = await api.call('GET', `/v1/routes?${filter}`);
    expect(status).toBe(400);
    expect(json.error?.['details']).toEqual([{ path: 'service_id', message }]);
  });

  it('answers route_not_found after a DELETE', async () => {
    const made = await make({ name: 'doomed' });
    expect((await api.call('DELETE', made.path)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) {
      const { status, json } = await api.call(method, made.path);
      expect({ status, code: json.error?.['code'] }).toEqual({
        status: 404,
        code: 'route_not_found',
      });
    }
  });

  it('cannot be in another environment than its service, whoever writes to the database', async () => {
    const made = await make({ name: 'bound' });
    const moved = api.db
      .updateTable('routes')
      .set({ environment: 'development' })
      .where('id', '=', made.id)
      .execute();
    await expect(moved).rejects.toThrow(/routes_service_fkey/);
  });
});
