import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { startTestApi, type Answer, type TestApi } from '../../test/api.ts';

let api: TestApi;
beforeEach(async () => void (api = await startTestApi()));
afterEach(() => api.close());

const PATH = '/v1/config';
const IN_PRODUCTION = 'environment=production';

async function make(path: string, body: object): Promise<string> {
  const { status, json, text } = await api.call('POST', path, { body });
  if (status !== 201) throw new Error(text);
  return json.data?.id ?? '';
}

const service = (name: string, fields: object = {}) =>
  make('/v1/services', { name, environment: 'production', url: 'http://a.example', ...fields });
const route = (name: string, service_id: string, fields: object = {}) =>
  make('/v1/routes', { name, service_id, ...fields });

async function change(path: string, body?: object): Promise<Answer> {
  const answer = await api.call(body === undefined ? 'DELETE' : 'PATCH', path, body && { body });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer;
}

async function all(path: string): Promise<readonly Record<string, unknown>[]> {
  return (await api.call('GET', `${path}?limit=200`)).json.data ?? [];
}

/** Services and routes without what a roll-back changes: revisions and times. */
async function configuration() {
  const strip = (rows: readonly Record<string, unknown>[]) =>
    rows.map((row) => ({ ...row, revision: undefined, updated_at: undefined }));
  return { services: strip(await all('/v1/services')), routes: strip(await all('/v1/routes')) };
}

function rollBack(version: number, token?: string): Promise<Answer> {
  const body = { environment: 'production', version };
  return api.call('POST', `${PATH}/rollback`, token === undefined ? { body } : { body, token });
}

/** As a re-encryption and the end of the old key leave the history. */
const loseKey = () =>
  sql`UPDATE config_outbox SET before = jsonb_set(before, '{credential,key_id}', '"gone"')
    WHERE before->'credential' IS NOT NULL`.execute(api.db);

const versions = (query = '') => api.call('GET', `${PATH}/versions?${IN_PRODUCTION}${query}`);
const diff = (from: number, to: number, query = '', token = api.adminToken) =>
  api.call('GET', `${PATH}/diff?${IN_PRODUCTION}&from=${from}&to=${to}${query}`, { token });
const code = ({ status, json }: Answer) => [status, json.error?.['code']];

describe('the versions of a configuration', () => {
  it('are listed newest first, with when, why and by whom they were made', async () => {
    const first = await api.publish('production');
    const id = await service('a');
    const token = await api.makeToken({ name: 'x', environments: ['*'], scopes: ['*'] });
    const changed = await api.call('PATCH', `/v1/services/${id}`, {
      body: { health_path: '/x' },
      token,
    });
    expect(changed.status).toBe(200);
    const second = await api.publish('production');
    const third = await api.publish('production');
    const { json } = await versions();
    expect(json.data).toMatchObject([
      { version: third, changes: 0, changed_by: [], current: true, reason: 'changed' },
      { version: second, changes: 3, environment: 'production', current: false },
      { version: first },
    ]);
    expect(json.data?.[1]?.['changed_by']).toHaveLength(2);
    const page = await versions('&limit=2');
    const next = await versions(`&limit=2&cursor=${page.json.next_cursor ?? ''}`);
    expect(next.json).toMatchObject({ data: [{ version: first }], next_cursor: null });
    const one = await api.call('GET', `${PATH}/versions/${second}?${IN_PRODUCTION}`);
    expect(one.json.data).toEqual(json.data?.[1]);
  });

  it('are found where they are kept, and refused where nothing can be meant', async () => {
    const newest = await api.publish('production');
    const read = (version: string, query = IN_PRODUCTION) =>
      api.call('GET', `${PATH}/versions/${version}?${query}`);
    expect(code(await read(String(newest + 1)))).toEqual([404, 'config_version_not_found']);
    expect(code(await read('x'))).toEqual([400, 'invalid_request']);
    expect(code(await read('0'))).toEqual([400, 'invalid_request']);
    expect(code(await read('1', ''))).toEqual([400, 'invalid_request']);
    expect(code(await read('1', 'environment=none'))).toEqual([404, 'environment_not_found']);
    expect(code(await versions('&cursor=x'))).toEqual([400, 'invalid_request']);
    expect(code(await diff(newest, newest + 1))).toEqual([404, 'config_version_not_found']);
    expect(code(await rollBack(newest + 1))).toEqual([404, 'config_version_not_found']);
    expect(code(await rollBack(1.5))).toEqual([400, 'invalid_request']);
    expect((await rollBack(newest + 1)).text).toContain('begins with version 1');
  });
});

describe('the difference between two versions', () => {
  it('names what was added, removed and changed, as the API shows it, either way', async () => {
    const kept = await service('kept', { credential: { type: 'bearer', token: 'first-secret' } });
    const gone = await service('gone');
    const from = await api.publish('production');
    const credential = { type: 'bearer', token: 'second-secret' };
    api.clock.advance(1000);
    await change(`/v1/services/${kept}`, { health_path: '/x', credential });
    await change(`/v1/services/${gone}`);
    const made = await route('made', kept);
    const passing = await service('passing');
    await api.publish('production');
    await change(`/v1/services/${passing}`);
    const to = await api.publish('production');
    const { json, text } = await diff(from, to);
    const byName = (rows: readonly Record<string, unknown>[] = []) =>
      rows.toSorted((x, y) => (String(x['name']) < String(y['name']) ? -1 : 1));
    expect(byName(json.data)).toMatchObject([
      { id: gone, change: 'removed', before: { name: 'gone' }, after: null },
      {
        resource_type: 'service',
        id: kept,
        change: 'changed',
        before: { health_path: '/healthz', revision: 1 },
        after: { health_path: '/x' },
      },
      { resource_type: 'route', id: made, name: 'made', change: 'added', before: null },
    ]);
    for (const secret of ['first-secret', 'second-secret', 'sealed', 'key_id']) {
      expect(text).not.toContain(secret);
    }
    const back = byName((await diff(to, from)).json.data);
    expect(back.map(({ change: what }) => what)).toEqual(['added', 'changed', 'removed']);
    expect((await diff(to, to)).json.data).toEqual([]);
    const page = await diff(from, to, '&limit=2');
    const rest = await diff(from, to, `&limit=2&cursor=${page.json.next_cursor ?? ''}`);
    expect([...(page.json.data ?? []), ...(rest.json.data ?? [])]).toEqual(json.data);
    const other = await diff(to, from, `&cursor=${page.json.next_cursor ?? ''}`);
    expect(code(other)).toEqual([400, 'invalid_request']);
  });

  it('is none where something was changed and changed back', async () => {
    const id = await service('a', { health_path: '/a' });
    const from = await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/b' });
    await change(`/v1/services/${id}`, { health_path: '/a' });
    expect((await diff(from, await api.publish('production'))).json.data).toEqual([]);
  });

  it('leaves out routes that the token does not cover, before or after', async () => {
    const id = await service('a');
    const from = await api.publish('production');
    await route('mine', id);
    await route('other', id);
    const to = await api.publish('production');
    const fields = { environments: ['production'], routes: ['mine'], scopes: ['config:write'] };
    const token = await api.makeToken({ name: 'one', ...fields });
    expect((await diff(from, to, '', token)).json.data).toMatchObject([{ name: 'mine' }]);
  });
});

describe('a roll-back', () => {
  it('makes services and routes what they were, whatever was made, renamed, moved and deleted since', async () => {
    const credential = { type: 'bearer', token: 'a-secret' };
    const [a, b] = [await service('a', { credential }), await service('b')];
    const doomed = await service('doomed');
    const ra = await route('ra', a, { methods: ['GET'], regions: ['eu'], timeout_ms: 5000 });
    const rb = await route('rb', b);
    await route('rd', doomed);
    const version = await api.publish('production');
    const then = await configuration();

    // Names change hands, so that no order of single writes would do.
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
      changed: true,
      services: { created: 1, updated: 2, deleted: 1 },
      routes: { created: 1, updated: 2, deleted: 1 },
    });
    expect(await configuration()).toEqual(then);
    const newest = await api.publish('production');
    expect((await diff(version, newest)).json.data).toEqual([]);
  });

  it('counts revisions up, for what comes back as well', async () => {
    const id = await service('a');
    await change(`/v1/services/${id}`, { health_path: '/x' });
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/y' });
    await change(`/v1/services/${id}`);
    await rollBack(version);
    const read = await api.call('GET', `/v1/services/${id}`);
    expect(read.json.data).toMatchObject({ revision: 4, health_path: '/x' });
  });

  it('leaves tokens as they are: one that was revoked since stays revoked', async () => {
    const token = await api.makeToken({ name: 'x', environments: ['*'], scopes: ['*'] });
    const id = await service('a');
    const version = await api.publish('production');
    const tokens = (await all('/v1/tokens')).find(({ name }) => name === 'x');
    await change(`/v1/tokens/${String(tokens?.['id'])}`);
    await change(`/v1/services/${id}`);
    expect((await rollBack(version)).json.data).toMatchObject({ changed: true });
    expect((await api.call('GET', '/v1/services', { token })).status).toBe(401);
  });

  it('to what is there changes nothing, and says so', async () => {
    await service('a');
    const version = await api.publish('production');
    const { json } = await rollBack(version);
    expect(json.data).toMatchObject({ changed: false, services: { updated: 0 } });
    const actions = (await all('/v1/audit-events')).map(({ action }) => action);
    expect(actions).toContain('service.created');
    expect(actions).not.toContain('environment.rolled_back');
  });

  it('has an audit event for itself and for each service and route, by whom it was done', async () => {
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

  it('leaves other environments alone', async () => {
    const elsewhere = await service('a', { environment: 'development' });
    const version = await api.publish('production');
    await change(`/v1/services/${elsewhere}`, { health_path: '/x' });
    expect((await rollBack(version)).json.data).toMatchObject({ changed: false });
  });

  it('is refused where a secret of then cannot be opened, and is done where it is still the same', async () => {
    const credential = { type: 'bearer', token: 'a-secret' };
    const id = await service('a', { credential });
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/x' });
    await loseKey();
    expect((await rollBack(version)).json.data).toMatchObject({ changed: true });
    await change(`/v1/services/${id}`, { health_path: '/y', credential: null });
    await loseKey();
    const refused = await rollBack(version);
    expect(code(refused)).toEqual([409, 'config_version_not_restorable']);
    expect(refused.text).toContain('a (gone)');
    const read = await api.call('GET', `/v1/services/${id}`);
    expect(read.json.data).toMatchObject({ health_path: '/y', credential: null });
  });

  it('takes a token that may write all of it', async () => {
    const version = await api.publish('production');
    const scopes = ['config:write', 'services:write', 'routes:write'];
    const status = async (name: string, fields: object) => {
      const full = { environments: ['production'], routes: ['*'], scopes };
      const token = await api.makeToken({ name, ...full, ...fields });
      return (await rollBack(version, token)).status;
    };
    expect(await status('all', {})).toBe(200);
    for (const lacking of scopes) {
      const others = scopes.filter((scope) => scope !== lacking);
      expect(await status(`without ${lacking.replace(':', ' ')}`, { scopes: others })).toBe(401);
    }
    expect(await status('some routes', { routes: ['a'] })).toBe(401);
    expect(await status('elsewhere', { environments: ['development'] })).toBe(401);
  });

  it('runs beside changes without losing one or breaking off', async () => {
    const ids = await Promise.all(['a', 'b', 'c'].map((name) => service(name)));
    const version = await api.publish('production');
    const work = ids.flatMap((id) =>
      ['/x', '/y'].map((health_path) =>
        api.call('PATCH', `/v1/services/${id}`, { body: { health_path } }),
      ),
    );
    const answers = await Promise.all([...work, rollBack(version), rollBack(version)]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await rollBack(version);
    const paths = (await all('/v1/services')).map(({ health_path }) => health_path);
    expect(paths).toEqual(['/healthz', '/healthz', '/healthz']);
  });
});
