import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { lowestId } from '@gateway/shared/ids';
import type { RequestRecord } from '@gateway/shared/records/record';
import { requestRecord } from '@gateway/shared/test/request-record';
import { sql } from 'kysely';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';
import { expectError } from '../../../test/expect-error.ts';
import { storeAs } from '../../requests/ingest/storable-record.ts';
import { insertRecords } from '../../requests/store/records.ts';

const NAME = 'staging';
const PATH = `/v1/environments/${NAME}`;

/**
 * The history of `staging`: the former environment has versions 1 and 2. The deletion of all that it had, its own
 * deletion and the creation of the present one are published together, as version 3. Version 4 has a route of the
 * present one.
 */
describe('an environment that is created again under the name of a deleted one', () => {
  let api: TestApi;
  /** Of a token that covers only the name. */
  let own: string;
  let formerId: unknown;
  const tags: Record<'former' | 'present', string | null> = { former: null, present: null };
  const ids: Record<'former' | 'late' | 'present' | 'early', string> = {
    former: '',
    late: '',
    present: '',
    early: '',
  };

  const post = async (path: string, body: object) => {
    const answer = await api.call('POST', path, { body });
    expect(answer.status).toBeLessThan(300);
    return answer.json.data as Record<string, unknown>;
  };
  const remove = async (path: string) => expect((await api.call('DELETE', path)).status).toBe(204);
  const get = (path: string, token?: string) =>
    api.call('GET', path, token === undefined ? {} : { token });
  const list = async (path: string, token?: string) => (await get(path, token)).json.data ?? [];
  const insert = (
    documents: 'named' | 'compact',
    changes: Partial<RequestRecord>,
    atMs: number,
  ) => {
    const record = requestRecord(atMs, { environment: NAME, route: 'orders', ...changes });
    return insertRecords(api.db, [storeAs(documents)(record)]).then(() => record.id);
  };
  const makeContents = async (url: string, credential?: object) => {
    const service = await post('/v1/services', {
      name: 'orders',
      environment: NAME,
      url,
      credential,
    });
    const route = await post('/v1/routes', { name: 'orders', service_id: service['id'] });
    return { service: String(service['id']), route: String(route['id']) };
  };

  beforeAll(async () => {
    api = await startTestApi();
    formerId = (await post('/v1/environments', { name: NAME }))['id'];
    expect(await api.publish(NAME)).toBe(1);
    const credential = { type: 'bearer', token: 'of-the-former-owner' };
    const former = await makeContents('http://former.example', credential);
    expect(await api.publish(NAME)).toBe(2);
    const nowMs = api.clock.nowMs();
    ids.former = await insert('named', { config_version: 2 }, nowMs);
    // One control plane's clock was an hour ahead.
    await sql`UPDATE audit_events SET occurred_at = occurred_at + interval '1 hour'
      WHERE resource_id = ${former.service}`.execute(api.db);
    await remove(`/v1/routes/${former.route}`);
    await remove(`/v1/services/${former.service}`);
    tags.former = (await get(PATH)).headers.get('etag');
    await remove(PATH);
    api.clock.advance(60_000);
    await post('/v1/environments', { name: NAME });
    tags.present = (await get(PATH)).headers.get('etag');
  });
  afterAll(() => api.close());

  it('shows nothing of before while the creation is not published', async () => {
    own = await api.makeToken({ name: 'own', environments: [NAME], scopes: ['*'] });
    expect(await list(`${PATH}/versions`, own)).toEqual([]);
    expect(await list('/v1/requests', own)).toEqual([]);
    expectError(await get(`${PATH}/versions/2`, own), 404, 'config_version_not_found');
    const all = (await list(`${PATH}/versions`)).map((one) => [one['current'], one['former']]);
    expect(all).toEqual([
      [false, true],
      [false, true],
    ]);

    expect(await api.publish(NAME)).toBe(3);
    await makeContents('http://present.example');
    expect(await api.publish(NAME)).toBe(4);
    const nowMs = api.clock.nowMs();
    ids.late = await insert('compact', { config_version: 2 }, nowMs + 5000);
    ids.present = await insert('compact', { config_version: 4 }, nowMs);
    // The clock of this data plane is behind by more than the age of the environment.
    ids.early = await insert('named', { config_version: 3 }, nowMs - 120_000);
  });

  it('has an entity tag of its own, also before it has a version', async () => {
    expect(tags.former).toBe('"2"');
    expect(tags.present).not.toBe(tags.former);
    const cached = { headers: { 'if-none-match': tags.former ?? '' } };
    expect((await api.call('GET', PATH, cached)).status).toBe(200);
  });

  it('has an id of its own', async () => {
    const { id } = (await get(PATH, own)).json.data ?? { id: '' };
    expect(id).toMatch(/^env_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(formerId).toMatch(/^env_/);
    expect(id).not.toBe(formerId);
    expect(id > lowestId('env', Date.now() - 60_000)).toBe(true);
    expect(String(formerId) < id).toBe(true);
    const created = await list(`/v1/audit-events?resource_id=${NAME}&action=environment.created`);
    expect(created.map(({ after }) => (after as { id: string }).id)).toEqual([id, formerId]);
  });

  it('lists only its own versions, with its own changes, to a token that covers the name', async () => {
    const shown = (rows: readonly Record<string, unknown>[]) =>
      rows.map(({ version, changes, former }) => [version, changes, former]);
    expect(shown(await list(`${PATH}/versions`, own))).toEqual([
      [4, 2, false],
      [3, 2, false],
    ]);
    expect(shown(await list(`/v1/config/versions?environment=${NAME}`, own))).toHaveLength(2);
    expect(shown(await list(`${PATH}/versions`))).toEqual([
      [4, 2, false],
      [3, 2, false],
      [2, 2, true],
      [1, 1, true],
    ]);
  });

  const never = (text: string, version: number) =>
    text.replace(`version ${version}.`, 'version 99.').replace(/req_\w+/, '');

  it('answers for a version of the former one as for one that never was', async () => {
    const reference = await get(`${PATH}/versions/99`, own);
    expectError(reference, 404, 'config_version_not_found');
    for (const path of [
      `${PATH}/versions/2`,
      `${PATH}/diff?from=2&to=4`,
      `${PATH}/diff?from=4&to=2`,
      `/v1/config/versions/2?environment=${NAME}`,
      `/v1/config/diff?environment=${NAME}&from=2&to=4`,
    ]) {
      const answer = await get(path, own);
      expectError(answer, 404, 'config_version_not_found');
      expect(never(answer.text, 2)).toBe(never(reference.text, 99));
    }
    expect((await get(`${PATH}/versions/2`)).status).toBe(200);
    expect(await list(`${PATH}/diff?from=3&to=4`, own)).toHaveLength(2);
  });

  it('cannot be rolled back to a version of the former one, whoever asks', async () => {
    const rollBack = (version: number, token?: string): Promise<Answer> =>
      api.call('POST', `${PATH}/rollback`, { body: { version }, ...(token && { token }) });
    const [answer, reference] = [await rollBack(2, own), await rollBack(99, own)];
    expectError(answer, 404, 'config_version_not_found');
    expect(never(answer.text, 2)).toBe(never(reference.text, 99));
    // A token that can read the version learns why.
    const body = { environment: NAME, version: 2 };
    for (const told of [
      await rollBack(2),
      await api.call('POST', '/v1/config/rollback', { body }),
    ]) {
      expectError(told, 409, 'config_version_not_restorable');
      expect(told.text).toContain('is of a deleted environment');
    }
    expect((await rollBack(3, own)).json.data).toMatchObject({ services: { deleted: 1 } });
    expect((await rollBack(4, own)).status).toBe(200);
  });

  it('lists and reads only records of requests that its own versions served', async () => {
    const listed = async (query: string, token?: string) =>
      (await list(`/v1/requests${query}`, token)).map(({ id }) => id);
    expect(await listed('', own)).toEqual([ids.present, ids.early]);
    expect(await listed('?route=orders', own)).toEqual([ids.present, ids.early]);
    expect(await listed(`?environment=${NAME}`)).toEqual([
      ids.late,
      ids.present,
      ids.former,
      ids.early,
    ]);
    for (const id of [ids.former, ids.late]) {
      expectError(await get(`/v1/requests/${id}`, own), 401, 'authentication_failed');
      expect((await get(`/v1/requests/${id}`)).status).toBe(200);
    }
    for (const id of [ids.present, ids.early]) {
      expect((await get(`/v1/requests/${id}`, own)).status).toBe(200);
    }
  });

  it('counts only requests that its own versions served', async () => {
    const from = encodeURIComponent(new Date(api.clock.nowMs() - 3_600_000).toISOString());
    const to = encodeURIComponent(new Date(api.clock.nowMs() + 3_600_000).toISOString());
    const counted = async (token?: string) => {
      const all = await get(`/v1/stats?from=${from}&to=${to}&environment=${NAME}`, token);
      const routes = await get(`/v1/stats/routes?from=${from}&to=${to}`, token);
      const byRoute = routes.json.data?.['routes'] as { route: string; requests: number }[];
      const total = all.json.data?.['total'] as { requests: number };
      return [total.requests, byRoute.map(({ requests }) => requests)];
    };
    expect(await counted(own)).toEqual([2, [2]]);
    expect(await counted()).toEqual([4, [4]]);
  });

  it('shows only its own audit events, however the clocks of control planes differ', async () => {
    await sql`UPDATE audit_events SET occurred_at = occurred_at - interval '1 hour'
      WHERE action = 'route.created' AND change_id = (
        SELECT max(change_id) FROM audit_events WHERE action = 'route.created')`.execute(api.db);
    const actions = async (token?: string) =>
      (await list(`/v1/audit-events?environment=${NAME}`, token)).map(({ action }) => action);
    const shown = await actions(own);
    expect(shown).toContain('route.created');
    expect(shown).toContain('environment.created');
    expect(shown).not.toContain('environment.deleted');
    const before = (await list('/v1/audit-events?limit=200', own)).map((one) =>
      JSON.stringify(one),
    );
    expect(before.filter((text) => text.includes('former.example'))).toEqual([]);
    expect(before.filter((text) => text.includes('present.example'))).not.toEqual([]);
    expect(await actions()).toContain('environment.deleted');
  });

  it('is a further environment when it is deleted and created once more', async () => {
    const tokens = await list('/v1/tokens');
    for (const row of await list(`/v1/routes?environment=${NAME}`))
      await remove(`/v1/routes/${row.id}`);
    for (const row of await list(`/v1/services?environment=${NAME}`)) {
      await remove(`/v1/services/${row.id}`);
    }
    const { id = '' } = tokens.find(({ name }) => name === 'own') ?? {};
    await remove(`/v1/tokens/${id}`);
    await remove(PATH);
    await post('/v1/environments', { name: NAME });
    const version = await api.publish(NAME);
    const next = await api.makeToken({ name: 'next', environments: [NAME], scopes: ['*'] });
    const versions = await list(`${PATH}/versions`, next);
    expect(versions.map((one) => one['version'])).toEqual([version]);
    expect(await list('/v1/requests', next)).toEqual([]);
    const stats = await get('/v1/stats', next);
    expect(stats.json.data?.['total']).toMatchObject({ requests: 0 });
    const events = await list('/v1/audit-events', next);
    expect(events.map(({ action }) => action).toSorted()).toEqual([
      'environment.created',
      'token.created',
    ]);
  });
});

describe('a token that is created while its environment is deleted', () => {
  let api: TestApi;
  beforeAll(async () => void (api = await startTestApi()));
  afterAll(() => api.close());

  it('is refused, or the deletion is', async () => {
    for (let round = 0; round < 20; round += 1) {
      const name = `race-${round}`;
      await api.call('POST', '/v1/environments', { body: { name } });
      const token = { name, environments: ['production', name], scopes: ['proxy'] };
      const [deleted, created] = await Promise.all([
        api.call('DELETE', `/v1/environments/${name}`),
        api.call('POST', '/v1/tokens', { body: token }),
      ]);
      expect([
        [204, 400],
        [409, 201],
      ]).toContainEqual([deleted.status, created.status]);
    }
  });
});
