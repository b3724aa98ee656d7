import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { sql } from 'kysely';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { configCalls } from '../../../test/config-calls.ts';
import { untilEnded } from '../../../test/until-ended.ts';

let api: TestApi;
beforeEach(async () => void (api = await startTestApi()));
afterEach(() => api.close());

const { service, route, change, all, versions, diff, code, rollBack } = configCalls(() => api);

/** Services and routes without revisions and times, which a rollback changes. */
async function configuration() {
  const strip = (rows: readonly Record<string, unknown>[]) =>
    rows.map((row) => ({ ...row, revision: undefined, updated_at: undefined }));
  return { services: strip(await all('/v1/services')), routes: strip(await all('/v1/routes')) };
}

function newPair() {
  const { certPem, keyPem } = createTestAuthority('upstreams').issue(['client.test']);
  return { cert_pem: certPem, key_pem: keyPem };
}

/** The history after a re-encryption and the removal of the old key. */
const loseKey = (secret = 'credential') =>
  sql`UPDATE config_outbox SET before = jsonb_set(before, ${[secret, 'key_id']}::text[], '"gone"')
    WHERE before->${secret}::text <> 'null'`.execute(api.db);

/** The history as a release stored it that had no access logs, limits, or methods of retries. */
const forgetSettings = async () => {
  for (const column of ['before', 'after']) {
    const stored = sql.ref(column);
    await sql`UPDATE config_outbox SET ${stored} = ${stored} - 'access_log' - 'limits'
      #- '{retry,unsafe_methods}' WHERE ${stored} IS NOT NULL`.execute(api.db);
  }
};

describe('a rollback across an upgrade that adds settings', () => {
  it('changes nothing if nothing else differs, and shows no difference', async () => {
    const id = await service('a');
    const routeId = await route('r', id);
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/x' });
    await change(`/v1/routes/${routeId}`, { timeout_ms: 5 });
    await api.publish('production');
    await forgetSettings();
    await change(`/v1/services/${id}`, { health_path: '/healthz' });
    await change(`/v1/routes/${routeId}`, { timeout_ms: 10_000 });
    const newest = await api.publish('production');
    expect((await diff(version, newest)).json.data).toEqual([]);
    expect((await rollBack(version)).json.data).toMatchObject({ changed: false, changes: [] });
  });

  it('names only the fields that a version changed', async () => {
    const id = await service('a');
    const routeId = await route('r', id);
    await api.publish('production');
    await forgetSettings();
    await change(`/v1/routes/${routeId}`, { timeout_ms: 5 });
    await sql`UPDATE config_outbox SET before = before - 'access_log' #- '{retry,unsafe_methods}'
      WHERE before IS NOT NULL`.execute(api.db);
    await api.publish('production');
    expect((await versions('&limit=1')).json.data).toMatchObject([
      { changed_resources: [{ resource_id: routeId, fields: ['timeout_ms'] }] },
    ]);
  });

  it('restores the default of a setting that did not exist', async () => {
    const id = await service('a');
    const routeId = await route('r', id);
    const version = await api.publish('production');
    await change(`/v1/routes/${routeId}`, {
      access_log: { enabled: false },
      retry: { unsafe_methods: 'always' },
    });
    await change(`/v1/services/${id}`, { limits: { max_in_flight: 5 } });
    await sql`UPDATE config_outbox SET before = before - 'access_log' - 'limits'
      #- '{retry,unsafe_methods}' WHERE before IS NOT NULL`.execute(api.db);
    await api.publish('production');
    expect((await rollBack(version)).json.data).toMatchObject({ changed: true });
    expect((await api.call('GET', `/v1/routes/${routeId}`)).json.data).toMatchObject({
      access_log: { enabled: true },
      retry: { unsafe_methods: 'never' },
    });
    expect((await api.call('GET', `/v1/services/${id}`)).json.data).toMatchObject({
      limits: { max_in_flight: null },
    });
  });
});

describe('a rollback', () => {
  it('restores services and routes that were created, renamed, moved or deleted since', async () => {
    const credential = { type: 'bearer', token: 'a-secret' };
    const [a, b] = [await service('a', { credential }), await service('b')];
    const doomed = await service('doomed');
    const ra = await route('ra', a, { methods: ['GET'], regions: ['eu'], timeout_ms: 5000 });
    const rb = await route('rb', b);
    await route('rd', doomed);
    const version = await api.publish('production');
    const then = await configuration();

    // Names are exchanged, so that no order of single writes would work.
    await change(`/v1/services/${a}`, { name: 'x', credential: null });
    await change(`/v1/services/${b}`, { name: 'a' });
    await change(`/v1/services/${a}`, { name: 'b' });
    await change(`/v1/routes/${ra}`, { name: 'x' });
    await change(`/v1/routes/${rb}`, { name: 'ra', service_id: a });
    await change(`/v1/routes/${ra}`, { name: 'rb', timeout_ms: 1 });
    const [rd] = (await all('/v1/routes?name=rd')) as { id: string }[];
    expect(rd).toBeUndefined();
    const doomedRoute = (await all('/v1/routes')).find(({ name }) => name === 'rd');
    await change(`/v1/routes/${String(doomedRoute?.['id'])}`);
    await change(`/v1/services/${doomed}`);
    await api.publish('production');
    const newcomer = await service('doomed');
    await route('rd', newcomer);

    const answer = await rollBack(version);
    expect(answer.json.data).toEqual({
      environment: 'production',
      restored_version: version,
      dry_run: false,
      changed: true,
      services: { created: 1, updated: 2, deleted: 1 },
      routes: { created: 1, updated: 2, deleted: 1 },
      changes: expect.any(Array),
    });
    expect(await configuration()).toEqual(then);
    const newest = await api.publish('production');
    expect((await diff(version, newest)).json.data).toEqual([]);
  });

  it('as a dry run shows each change that it would make, and makes none', async () => {
    const credential = { type: 'bearer', token: 'first-secret' };
    const id = await service('pay', { credential });
    const charges = await route('charges', id);
    const gone = await route('gone', id);
    const version = await api.publish('production');
    api.clock.advance(1000);
    await change(`/v1/services/${id}`, { credential: { ...credential, token: 'second-secret' } });
    await change(`/v1/routes/${charges}`, { status: 'disabled', timeout_ms: 50 });
    await change(`/v1/routes/${gone}`);
    await api.publish('production');
    await route('pending', id);
    const before = await configuration();
    const dry = await rollBack(version, { body: { dry_run: true } });
    expect([dry.status, dry.json.data]).toEqual([
      200,
      {
        environment: 'production',
        restored_version: version,
        dry_run: true,
        changed: true,
        services: { created: 0, updated: 1, deleted: 0 },
        routes: { created: 1, updated: 1, deleted: 1 },
        changes: [
          {
            resource_type: 'service',
            resource_id: id,
            name: 'pay',
            action: 'updated',
            fields: [{ path: '/credential', before: null, after: null, secret_changed: true }],
            before: null,
            after: null,
          },
          {
            resource_type: 'route',
            resource_id: charges,
            name: 'charges',
            action: 'updated',
            fields: [
              { path: '/status', before: 'disabled', after: 'active' },
              { path: '/timeout_ms', before: 50, after: 10_000 },
            ],
            before: null,
            after: null,
          },
          expect.objectContaining({
            resource_id: gone,
            action: 'created',
            after: expect.objectContaining({ name: 'gone', service: 'pay' }),
          }),
          expect.objectContaining({
            name: 'pending',
            action: 'deleted',
            before: expect.objectContaining({ service: 'pay', timeout_ms: 10_000 }),
          }),
        ],
      },
    ]);
    for (const secret of ['first-secret', 'second-secret', 'sealed']) {
      expect(dry.text).not.toContain(secret);
    }
    expect(await configuration()).toEqual(before);
    const made = await rollBack(version);
    const changes = (dry.json.data as unknown as { readonly changes: object }).changes;
    expect(made.json.data).toMatchObject({ dry_run: false, changes });
    const none = await rollBack(version, { body: { dry_run: true } });
    expect(none.json.data).toMatchObject({ changed: false, changes: [] });
  });

  it('as a dry run is refused as a rollback is', async () => {
    const id = await service('a', { credential: { type: 'bearer', token: 'a-secret' } });
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { credential: null });
    await loseKey();
    const dry = { body: { dry_run: true } };
    expect(code(await rollBack(version, dry))).toEqual([409, 'config_version_not_restorable']);
    expect(code(await rollBack(version + 5, dry))).toEqual([404, 'config_version_not_found']);
    const headers = { 'if-match': `"${version}"` };
    expect(code(await rollBack(version, { ...dry, headers }))).toEqual([
      412,
      'precondition_failed',
    ]);
    const reach = { environments: ['production'], scopes: ['config:write', 'services:write'] };
    const token = await api.makeToken({ name: 'x', ...reach });
    expect((await rollBack(version, { ...dry, token })).status).toBe(401);
  });

  it('increases revisions, also of resources that were deleted', async () => {
    const id = await service('a');
    await change(`/v1/services/${id}`, { health_path: '/x' });
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/y' });
    await change(`/v1/services/${id}`);
    await rollBack(version);
    const read = await api.call('GET', `/v1/services/${id}`);
    expect(read.json.data).toMatchObject({ revision: 4, health_path: '/x' });
  });

  it('does not change tokens: a token that was revoked since stays revoked', async () => {
    const token = await api.makeToken({ name: 'x', environments: ['*'], scopes: ['*'] });
    const id = await service('a');
    const version = await api.publish('production');
    const tokens = (await all('/v1/tokens')).find(({ name }) => name === 'x');
    await change(`/v1/tokens/${String(tokens?.['id'])}`);
    await change(`/v1/services/${id}`);
    expect((await rollBack(version)).json.data).toMatchObject({ changed: true });
    expect((await api.call('GET', '/v1/services', { token })).status).toBe(401);
  });

  it('to the current state changes nothing, and reports that', async () => {
    await service('a');
    const version = await api.publish('production');
    const { json } = await rollBack(version);
    expect(json.data).toMatchObject({ changed: false, services: { updated: 0 } });
    const actions = (await all('/v1/audit-events')).map(({ action }) => action);
    expect(actions).toContain('service.created');
    expect(actions).not.toContain('environment.rolled_back');
  });

  it('changes nothing if upstreams were replaced and came back, and shows no difference', async () => {
    const id = await service('a');
    const upstreams = (await api.call('GET', `/v1/services/${id}`)).json.data?.['upstreams'];
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { upstreams: [{ url: 'http://other.example' }] });
    await change(`/v1/services/${id}`, { upstreams });
    const newest = await api.publish('production');
    expect((await diff(version, newest)).json.data).toEqual([]);
    expect((await rollBack(version)).json.data).toMatchObject({ changed: false, changes: [] });
  });

  it('has an audit event for itself and for each service and route, with the token of the call', async () => {
    const id = await service('a');
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/x' });
    await api.publish('production');
    const { headers } = await rollBack(version);
    const requestId = headers.get('x-request-id') ?? '';
    const events = await api.call('GET', `/v1/audit-events?request_id=${requestId}`);
    const seen = [...(events.json.data ?? [])].sort((x, y) =>
      String(x['action']) < String(y['action']) ? -1 : 1,
    );
    expect(seen).toMatchObject([
      { action: 'environment.rolled_back', after: { restored_version: version } },
      {
        action: 'service.updated',
        resource_id: id,
        token_id: expect.any(String),
        before: { health_path: '/x' },
        after: { health_path: '/healthz', revision: 3 },
      },
    ]);
    const newest = await api.publish('production');
    expect((await versions('&limit=1')).json.data).toMatchObject([
      { version: newest, changes: 1, changed_by: [expect.any(String)] },
    ]);
  });

  it('with If-Match happens only from that version, and not while newer changes are unpublished', async () => {
    const id = await service('a');
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/x' });
    const seen = await api.publish('production');
    const read = await api.call('GET', '/v1/environments/production');
    expect(read.headers.get('etag')).toBe(`"${seen}"`);
    const refusal = async (ifMatch: string) => {
      const {
        status,
        json,
        headers: answered,
      } = await rollBack(version, { headers: { 'if-match': ifMatch } });
      return [status, json.error?.['message'], answered.get('etag')];
    };
    const older = `If-Match does not match the newest revision, whose ETag is "${seen}".`;
    expect(await refusal(`"${version}"`)).toEqual([412, older, `"${seen}"`]);
    await change(`/v1/services/${id}`, { health_path: '/y' });
    const pending = `If-Match names the newest version, ${seen}, but newer changes wait to be published.`;
    expect(await refusal(`"${seen}"`)).toEqual([412, pending, `"${seen}"`]);
    const newest = await api.publish('production');
    const headers = { 'if-match': `"${newest}"` };
    expect((await rollBack(version, { headers })).status).toBe(200);
    expect((await api.call('GET', `/v1/services/${id}`)).json.data).toMatchObject({
      health_path: '/healthz',
    });
  });

  it('does not change other environments', async () => {
    const elsewhere = await service('a', { environment: 'development' });
    const version = await api.publish('production');
    await change(`/v1/services/${elsewhere}`, { health_path: '/x' });
    expect((await rollBack(version)).json.data).toMatchObject({ changed: false });
  });

  it.each([
    ['credential', 'credential', () => ({ type: 'bearer', token: 'a-secret' })],
    ['tls', 'client_key', () => ({ client_certificate: newPair() })],
  ])(
    'is refused if an old secret cannot be decrypted, and allowed if that secret is still in use: %s',
    async (field, secret, make) => {
      const id = await service('a', { url: 'https://a.example', [field]: make() });
      const version = await api.publish('production');
      await change(`/v1/services/${id}`, { health_path: '/x' });
      await loseKey(secret);
      expect((await rollBack(version)).json.data).toMatchObject({ changed: true });
      await change(`/v1/services/${id}`, { health_path: '/y', [field]: null });
      await loseKey(secret);
      const refused = await rollBack(version);
      expect(code(refused)).toEqual([409, 'config_version_not_restorable']);
      expect(refused.text).toContain('a (gone)');
      const read = await api.call('GET', `/v1/services/${id}`);
      expect(read.json.data).toMatchObject({ health_path: '/y', [field]: null });
    },
  );

  it('needs a token that may write all services and routes', async () => {
    const version = await api.publish('production');
    const scopes = ['config:write', 'services:write', 'routes:write'];
    const status = async (name: string, fields: object) => {
      const full = { environments: ['production'], routes: ['*'], scopes };
      const token = await api.makeToken({ name, ...full, ...fields });
      return (await rollBack(version, { token })).status;
    };
    expect(await status('all', {})).toBe(200);
    for (const lacking of scopes) {
      const others = scopes.filter((scope) => scope !== lacking);
      expect(await status(`without ${lacking.replace(':', ' ')}`, { scopes: others })).toBe(401);
    }
    expect(await status('some routes', { routes: ['a'] })).toBe(401);
    expect(await status('elsewhere', { environments: ['development'] })).toBe(401);
  });

  it('runs at the same time as other changes without losing one or failing', async () => {
    const ids = await Promise.all(['a', 'b', 'c'].map((name) => service(name)));
    const version = await api.publish('production');
    const work = ids.flatMap((id) =>
      ['/x', '/y'].map((health_path) =>
        api.call('PATCH', `/v1/services/${id}`, { body: { health_path } }),
      ),
    );
    const calls = Promise.all([...work, rollBack(version), rollBack(version)]);
    const answers = await untilEnded(api, calls);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await rollBack(version);
    const paths = (await all('/v1/services')).map(({ health_path }) => health_path);
    expect(paths).toEqual(['/healthz', '/healthz', '/healthz']);
  });
});
