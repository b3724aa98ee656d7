import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { configCalls } from '../../../test/config-calls.ts';

let api: TestApi;
beforeEach(async () => void (api = await startTestApi()));
afterEach(() => api.close());

const { service, route, change, versions, diff, code, rollBack } = configCalls(() => api);

const PATH = '/v1/config';
const IN_PRODUCTION = 'environment=production';

describe('the versions of a configuration', () => {
  it('are listed newest first, with the time, reason and author of each', async () => {
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

  it('say which services and routes changed, and which fields, as far as the token covers them', async () => {
    const id = await service('pay');
    const mine = await route('mine', id);
    const other = await route('other', id);
    const first = await api.publish('production');
    await change(`/v1/routes/${mine}`, { status: 'disabled', timeout_ms: 5 });
    await change(`/v1/routes/${mine}`, { timeout_ms: 10_000 });
    await change(`/v1/routes/${other}`);
    await change(`/v1/services/${id}`, { credential: { type: 'bearer', token: 'a-secret' } });
    await api.publish('production');
    const [second] = (await versions('&limit=1')).json.data ?? [];
    const fieldsOf = (resource_id: string, resource_type: string, name: string) => {
      return { resource_id, resource_type, name };
    };
    const changed = [
      { ...fieldsOf(mine, 'route', 'mine'), change: 'changed', fields: ['status'] },
      { ...fieldsOf(other, 'route', 'other'), change: 'removed', fields: [] },
      { ...fieldsOf(id, 'service', 'pay'), change: 'changed', fields: ['credential'] },
    ];
    expect(second).toMatchObject({ changed_resources: changed, restored_version: null });
    const reach = { environments: ['production'], routes: ['mine'], scopes: ['config:read'] };
    const token = await api.makeToken({ name: 'one', ...reach });
    for (const version of [second?.['version'], first]) {
      const path = `/v1/environments/production/versions/${String(version)}`;
      const { json, text } = await api.call('GET', path, { token });
      expect(JSON.stringify(json.data)).toContain('"mine"');
      expect(text).not.toContain('other');
    }
  });

  it('say how many changes there were in all, and name the first ten', async () => {
    await api.publish('production');
    const id = await service('pay');
    for (let at = 1; at <= 12; at += 1) await route(`r${String(at).padStart(2, '0')}`, id);
    await api.publish('production');
    const [newest] = (await versions('&limit=1')).json.data ?? [];
    const resources = newest?.['changed_resources'] as { name: string; change: string }[];
    const named = resources.map(({ name, change: what }) => `${name} ${what}`);
    expect(newest?.['changes']).toBe(13);
    expect(named).toEqual([
      'pay added',
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((at) => `r0${at} added`),
    ]);
  });

  it('name the version that a rollback restored', async () => {
    const id = await service('pay');
    const good = await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/x' });
    await api.publish('production');
    await rollBack(good);
    await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/y' });
    await api.publish('production');
    const restored = (await versions('&limit=3')).json.data?.map((one) => one['restored_version']);
    expect(restored).toEqual([null, good, null]);
  });

  it('are found by their number; other numbers get 404 or 400', async () => {
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
  it('lists what was added, removed and changed, as the API shows it, in both directions', async () => {
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

  it('is empty if a change was undone', async () => {
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
