import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';

describe('/v1/environments', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });

  afterAll(async () => {
    await api.close();
  });

  it('creates an environment, shows it, and requests its first snapshot', async () => {
    const made = await api.call('POST', '/v1/environments', { body: { name: 'staging' } });
    expect(made.status).toBe(201);
    expect(made.headers.get('location')).toBe('/v1/environments/staging');
    expect(made.json.data).toEqual({
      id: expect.stringMatching(/^env_[0-9a-hjkmnp-tv-z]{26}$/),
      name: 'staging',
      config_version: 0,
      created_at: '2030-01-01T00:00:00.000Z',
    });
    expect((await api.call('GET', '/v1/environments/staging')).json.data).toEqual(made.json.data);
    const outbox = await api.db
      .selectFrom('config_outbox')
      .select('action')
      .where('environment', '=', 'staging')
      .execute();
    expect(outbox).toEqual([{ action: 'environment.created' }]);
  });

  it('has pages in the order of the names', async () => {
    const first = await api.call('GET', '/v1/environments?limit=1');
    expect(first.json.data).toMatchObject([{ name: 'development' }]);
    const rest = await api.call('GET', `/v1/environments?cursor=${first.json.next_cursor ?? ''}`);
    expect(rest.json.data?.map((one) => one['name'])).toEqual(['production', 'staging']);
    expect(rest.json.next_cursor).toBeNull();
  });

  it('refuses a name that is taken', async () => {
    const { status, json } = await api.call('POST', '/v1/environments', {
      body: { name: 'production' },
    });
    expect({ status, code: json.error?.['code'] }).toEqual({ status: 409, code: 'name_conflict' });
  });

  it.each(['', 'Prod', '-a', 'a'.repeat(64), 'a_b', '*', 7, null])(
    'refuses the name %j',
    async (name) => {
      const { status, json } = await api.call('POST', '/v1/environments', { body: { name } });
      expect(status).toBe(400);
      expect(json.error?.['details']).toMatchObject([{ path: 'name' }]);
    },
  );

  it('is created only by a token for all environments with config:write', async () => {
    const body = { name: 'limited', environments: ['production'], scopes: ['*'] };
    const token = await api.makeToken(body);
    const refused = await api.call('POST', '/v1/environments', { token, body: { name: 'mine' } });
    expect(refused.status).toBe(401);
    expect((await api.call('GET', '/v1/environments/staging', { token })).status).toBe(401);
    expect((await api.call('GET', '/v1/environments/mine')).status).toBe(404);
    expect((await api.call('GET', '/v1/environments/%00')).status).toBe(404);
  });

  it('gets a token for all environments that is created at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const name = `race-${round}`;
      const [, made] = await Promise.all([
        api.call('POST', '/v1/environments', { body: { name } }),
        api.call('POST', '/v1/tokens', { body: { name, environments: ['*'], scopes: ['proxy'] } }),
      ]);
      // Either the first snapshot was requested after the token existed, or the token's change covers it.
      const rows = await api.db
        .selectFrom('config_outbox')
        .select(['id', 'action'])
        .where('environment', '=', name)
        .orderBy('id')
        .execute();
      const published = rows.some((row) => row.action === 'token.created');
      const tokenFirst = await api.db
        .selectFrom('config_outbox')
        .select('id')
        .where('action', '=', 'token.created')
        .where('entity_id', '=', made.json.data?.id ?? '')
        .where('id', '<', rows[0]?.id ?? 0)
        .executeTakeFirst();
      expect(published || tokenFirst !== undefined).toBe(true);
    }
  });
});
