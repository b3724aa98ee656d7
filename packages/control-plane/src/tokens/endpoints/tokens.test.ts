import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { tokenCalls } from '../../../test/tokens.ts';

describe('/v1/tokens', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });

  afterAll(async () => {
    await api.close();
  });

  const { post, make, works } = tokenCalls(() => api);

  it('shows the secret only in the response that creates the token', async () => {
    const made = await make({ name: 'ci', routes: ['payments'] });
    expect(made.secret).toMatch(/^gwt_[A-Za-z0-9_-]{43}$/);
    const read = await api.call('GET', made.path);
    expect(read.json.data).toEqual({
      id: made.id,
      name: 'ci',
      environments: ['production'],
      routes: ['payments'],
      scopes: ['services:read'],
      expires_at: null,
      secret_prefix: made.secret.slice(0, 8),
      created_by: expect.stringMatching(/^tok_/),
      created_at: '2030-01-01T00:00:00.000Z',
      updated_at: '2030-01-01T00:00:00.000Z',
      last_used_at: null,
    });
    const list = await api.call('GET', '/v1/tokens');
    expect(list.json.data?.map((one) => one.id)).toContain(made.id);
    expect(list.text).not.toMatch(/"secret"|sha256|gwt_[\w-]{5}/);
  });

  it('stores only a hash of the secret', async () => {
    const made = await make({ name: 'hashed' });
    const row = await api.db
      .selectFrom('tokens')
      .selectAll()
      .where('id', '=', made.id)
      .executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain(made.secret.slice(0, 9));
    expect(JSON.stringify(row)).not.toContain(made.secret.slice(8));
    expect(row.secret_sha256).toHaveLength(32);
  });

  it.each([
    [{ environments: [] }, 'environments'],
    [{ environments: ['Prod'] }, 'environments.0'],
    [{ environments: 'production' }, 'environments'],
    [{ routes: ['Nope'] }, 'routes.0'],
    [{ scopes: ['everything'] }, 'scopes.0'],
    [{ scopes: ['proxy', 'proxy'] }, 'scopes'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ expires_at: '2029-12-31T00:00:00Z' }, 'expires_at'],
    // A time in the year 10000.
    [{ expires_at: '9999-12-31T23:59:59-23:59' }, 'expires_at'],
    [{ name: '' }, 'name'],
    [{ secret: 'gwt_mine' }, 'secret'],
  ])('refuses %j and names the field', async (fields, path) => {
    const body = { name: 'bad', environments: ['production'], scopes: ['proxy'], ...fields };
    const { status, json } = await post(body);
    expect(status).toBe(400);
    expect(json.error?.['details']).toMatchObject([{ path }]);
  });

  it('refuses an environment that does not exist', async () => {
    const { status, json } = await post({ name: 'x', environments: ['moon'], scopes: ['proxy'] });
    expect({ status, details: json.error?.['details'] }).toEqual({
      status: 400,
      details: [{ path: 'environments.0', message: 'must be the name of an environment' }],
    });
  });

  describe('created by a token with few rights', () => {
    const reach = {
      environments: ['production'],
      routes: ['payments'],
      scopes: ['tokens:write', 'proxy'],
    };
    let maker: string;

    beforeAll(async () => {
      maker = (await make({ name: 'maker', ...reach, expires_at: '2030-02-01T00:00:00Z' })).secret;
    });

    it.each([
      { environments: ['development'] },
      { environments: ['*'] },
      { environments: ['production', 'development'] },
      { routes: ['orders'] },
      { routes: ['*'] },
      { scopes: ['routes:write'] },
      { scopes: ['*'] },
      { expires_at: null },
      { expires_at: '2030-02-01T00:00:01Z' },
    ])('cannot have rights that its creator lacks: %j', async (more) => {
      const refused = await post({ name: 'grab', ...reach, ...more }, maker);
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    });

    it('can have the rights of its creator, and expires with it', async () => {
      const made = await post({ name: 'child', ...reach, scopes: ['proxy'] }, maker);
      expect(made.json.data).toMatchObject({ expires_at: '2030-02-01T00:00:00.000Z' });
      const sooner = { name: 'brief', ...reach, expires_at: '2030-01-02T01:00:00+01:00' };
      expect((await post(sooner, maker)).json.data).toMatchObject({
        expires_at: '2030-01-02T00:00:00.000Z',
      });
    });

    it('must name its routes, because its creator does not cover all', async () => {
      const body = { name: 'all', environments: ['production'], scopes: ['proxy'] };
      const { status, json } = await post(body, maker);
      expect(status).toBe(400);
      expect(json.error?.['details']).toMatchObject([{ path: 'routes' }]);
    });

    it('cannot read, revoke or rotate a token with more rights', async () => {
      const wide = await make({ name: 'wide', ...reach, routes: ['payments', 'orders'] });
      const call = (method: string, path: string) => api.call(method, path, { token: maker });
      expect((await call('GET', wide.path)).status).toBe(401);
      expect((await call('DELETE', wide.path)).status).toBe(401);
      expect((await call('POST', `${wide.path}/rotate`)).status).toBe(401);
      const list = await call('GET', '/v1/tokens?limit=200');
      expect(list.status).toBe(200);
      const seen = list.json.data ?? [];
      expect(seen.map((one) => one['name'])).toContain('maker');
      expect(seen.map((one) => one['name'])).not.toContain('wide');
      expect(seen.map((one) => one['name'])).not.toContain('admin');
    });

    it('cannot rotate a token that outlives it, but can revoke it', async () => {
      const rotate = (path: string) => api.call('POST', `${path}/rotate`, { token: maker });
      const endless = await make({ name: 'endless', ...reach });
      const later = await make({ name: 'later', ...reach, expires_at: '2030-02-01T00:00:01Z' });
      const same = await make({ name: 'same', ...reach, expires_at: '2030-02-01T00:00:00Z' });
      for (const { path, secret } of [endless, later]) {
        expect((await rotate(path)).status).toBe(401);
        expect((await api.call('GET', '/v1/environments', { token: secret })).status).toBe(200);
        expect((await api.call('DELETE', path, { token: maker })).status).toBe(204);
      }
      expect((await rotate(same.path)).status).toBe(200);
    });
  });

  it('accepts the old secret until the end of the grace period, and no longer', async () => {
    const made = await make({ name: 'rotated' });
    const rotated = await api.call('POST', `${made.path}/rotate`, { body: { grace_seconds: 60 } });
    expect(rotated.status).toBe(200);
    const fresh = rotated.json.data?.secret ?? '';
    expect(fresh).not.toBe(made.secret);
    expect([await works(made.secret), await works(fresh)]).toEqual([true, true]);
    api.clock.advance(59_999);
    expect(await works(made.secret)).toBe(true);
    api.clock.advance(1);
    expect([await works(made.secret), await works(fresh)]).toEqual([false, true]);
  });

  it('refuses the old secret at once without a grace period, and the one before after a second rotation', async () => {
    const made = await make({ name: 'twice' });
    const first = await api.call('POST', `${made.path}/rotate`);
    expect(await works(made.secret)).toBe(true);
    const body = { grace_seconds: 0 };
    const second = await api.call('POST', `${made.path}/rotate`, { body });
    const secrets = [made.secret, first.json.data?.secret ?? '', second.json.data?.secret ?? ''];
    expect(await Promise.all(secrets.map(works))).toEqual([false, false, true]);
  });

  it.each([-1, 604_801, 1.5, '60'])('refuses a grace of %j seconds', async (grace) => {
    const made = await make({ name: `grace-${JSON.stringify(grace).replace(/\W/g, '-')}x` });
    const body = { grace_seconds: grace };
    const { status, json } = await api.call('POST', `${made.path}/rotate`, { body });
    expect(status).toBe(400);
    expect(json.error?.['details']).toMatchObject([{ path: 'grace_seconds' }]);
  });

  it('refuses both secrets of a rotated token after it is revoked', async () => {
    const made = await make({ name: 'both' });
    const rotated = await api.call('POST', `${made.path}/rotate`);
    await api.call('DELETE', made.path);
    expect(await works(made.secret)).toBe(false);
    expect(await works(rotated.json.data?.secret ?? '')).toBe(false);
    expect((await api.call('POST', `${made.path}/rotate`)).status).toBe(404);
  });

  it('publishes each change to every environment that the token covers', async () => {
    const before = await last();
    const made = await make({ name: 'everywhere', environments: ['*'] });
    await api.call('POST', `${made.path}/rotate`);
    await api.call('DELETE', made.path);
    const rows = await api.db
      .selectFrom('config_outbox')
      .select(['environment', 'action'])
      .where('id', '>', before)
      .where('entity_id', '=', made.id)
      .orderBy('id')
      .execute();
    for (const action of ['token.created', 'token.rotated', 'token.revoked']) {
      const published = rows.filter((row) => row.action === action);
      expect(published.map((row) => row.environment).sort()).toEqual(['development', 'production']);
    }
  });

  async function last(): Promise<number> {
    const query = api.db.selectFrom('config_outbox').select((eb) => eb.fn.max('id').as('id'));
    return (await query.executeTakeFirstOrThrow()).id;
  }

  describe('PATCH', () => {
    const patch = (path: string, body: object, token?: string) =>
      api.call('PATCH', path, token === undefined ? { body } : { body, token });

    it('changes name and expiry, and writes one audit event with both states', async () => {
      const made = await make({ name: 'before' });
      const body = { name: 'after', expires_at: '2030-03-01T01:00:00+01:00' };
      const changed = await patch(made.path, body);
      expect(changed.status).toBe(200);
      expect(changed.json.data).toMatchObject({
        name: 'after',
        expires_at: '2030-03-01T00:00:00.000Z',
        scopes: ['services:read'],
      });
      expect(changed.text).not.toMatch(/gwt_[\w-]{5}/);
      expect(await works(made.secret)).toBe(true);
      const events = await api.call('GET', `/v1/audit-events?resource_id=${made.id}`);
      expect(events.json.data?.map((event) => event['action'])).toEqual([
        'token.updated',
        'token.created',
      ]);
      expect(events.json.data?.[0]).toMatchObject({
        before: { name: 'before', expires_at: null },
        after: { name: 'after', expires_at: '2030-03-01T00:00:00.000Z' },
      });
    });

    it('removes the expiry with null', async () => {
      const made = await make({ name: 'endless', expires_at: '2030-03-01T00:00:00Z' });
      const changed = await patch(made.path, { expires_at: null });
      expect(changed.json.data).toMatchObject({ expires_at: null });
    });

    it.each([
      [{ expires_at: '2029-01-01T00:00:00Z' }, 400, 'invalid_request'],
      [{ expires_at: 'soon' }, 400, 'invalid_request'],
      [{ name: '' }, 400, 'invalid_request'],
      [{ scopes: ['*'] }, 400, 'invalid_request'],
      [{ secret: 'x' }, 400, 'invalid_request'],
      [{ name: 'used' }, 409, 'name_conflict'],
    ])('refuses %j', async (body, status, code) => {
      await post({ name: 'used', environments: ['production'], scopes: ['proxy'] });
      const made = await make({ name: `kept-${JSON.stringify(body).replace(/\W/g, '')}` });
      const answer = await patch(made.path, body);
      expect({ status: answer.status, code: answer.json.error?.['code'] }).toEqual({
        status,
        code,
      });
    });

    it('answers token_not_found for a token that is unknown or revoked', async () => {
      const made = await make({ name: 'gone' });
      await api.call('DELETE', made.path);
      expect((await patch(made.path, { name: 'x' })).json.error?.['code']).toBe('token_not_found');
    });

    it('does not let a token extend a token, or itself, beyond its own expiry', async () => {
      const rights = { environments: ['production'], scopes: ['tokens:write', 'services:read'] };
      const expires_at = '2030-02-01T00:00:00Z';
      const caller = await make({ name: 'caller', ...rights, expires_at });
      const other = await make({ name: 'other', expires_at });
      for (const path of [caller.path, other.path]) {
        for (const later of ['2030-02-01T00:00:01Z', null]) {
          expect((await patch(path, { expires_at: later }, caller.secret)).status).toBe(401);
        }
      }
      const sooner = { expires_at: '2030-01-15T00:00:00Z' };
      expect((await patch(other.path, sooner, caller.secret)).status).toBe(200);
      const foreign = await make({ name: 'foreign', scopes: ['routes:read'] });
      expect((await patch(foreign.path, { name: 'x' }, caller.secret)).status).toBe(401);
    });
  });
});
