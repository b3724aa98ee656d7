import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectError } from '../../../test/expect-error.ts';
import { startTestApi, type TestApi } from '../../../test/api.ts';

describe('DELETE /v1/environments/{name}', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });

  afterAll(async () => {
    await api.close();
  });

  async function make(name: string) {
    const { status } = await api.call('POST', '/v1/environments', { body: { name } });
    expect(status).toBe(201);
    return `/v1/environments/${name}`;
  }
  const post = (path: string, body: object) => api.call('POST', path, { body });
  const names = async () =>
    (await api.call('GET', '/v1/environments')).json.data?.map((one) => one['name']);

  it('deletes an empty environment, with one audit event, and publishes it without tokens', async () => {
    const path = await make('brief');
    const deleted = await api.call('DELETE', path);
    expect({ status: deleted.status, text: deleted.text }).toEqual({ status: 204, text: '' });
    expect(await names()).not.toContain('brief');
    expectError(await api.call('GET', path), 404, 'environment_not_found');
    expectError(await api.call('DELETE', path), 404, 'environment_not_found');
    const events = await api.call('GET', '/v1/audit-events?resource_id=brief');
    expect(events.json.data?.map((event) => event['action'])).toEqual([
      'environment.deleted',
      'environment.created',
    ]);
    expect(events.json.data?.[0]).toMatchObject({ before: { name: 'brief' }, after: null });
    const outbox = await api.db
      .selectFrom('config_outbox')
      .select(['action', 'kind'])
      .where('environment', '=', 'brief')
      .orderBy('id')
      .execute();
    expect(outbox.at(-1)).toEqual({ action: 'environment.deleted', kind: 'environment' });
  });

  it('refuses to delete what is in use, and says what is in it', async () => {
    const path = await make('full');
    const service = await post('/v1/services', {
      name: 'a',
      environment: 'full',
      url: 'http://a.example',
    });
    const route = await post('/v1/routes', { name: 'r', service_id: service.json.data?.id });
    const reach = { environments: ['full'], scopes: ['proxy'] };
    const tokens = [
      await post('/v1/tokens', { name: 'one', ...reach }),
      await post('/v1/tokens', { name: 'two', ...reach }),
    ];
    const refused = await api.call('DELETE', path);
    expectError(refused, 409, 'environment_in_use');
    expect(refused.json.error?.['message']).toBe(
      'The environment still has 1 service, 1 route, 2 tokens; delete or revoke them first.',
    );
    expect(refused.json.error?.['details']).toEqual([
      { path: 'services', message: 'the environment has 1 service' },
      { path: 'routes', message: 'the environment has 1 route' },
      { path: 'tokens', message: 'the environment has 2 tokens' },
    ]);
    for (const { json } of tokens) await api.call('DELETE', `/v1/tokens/${json.data?.id ?? ''}`);
    await api.call('DELETE', route.headers.get('location') ?? '');
    await api.call('DELETE', service.headers.get('location') ?? '');
    expect((await api.call('DELETE', path)).status).toBe(204);
  });

  it('leaves nothing that can be used under its name', async () => {
    await api.call('DELETE', await make('gone'));
    const service = { name: 'a', environment: 'gone', url: 'http://a.example' };
    expectError(await post('/v1/services', service), 400, 'invalid_request');
    const token = { name: 'x', environments: ['gone'], scopes: ['proxy'] };
    expectError(await post('/v1/tokens', token), 400, 'invalid_request');
    const put = await api.call('PUT', '/v1/services/a?environment=gone', {
      body: { url: 'http://a.example' },
    });
    expectError(put, 404, 'environment_not_found');
  });

  it('can be created again, and its version continues', async () => {
    const path = await make('again');
    const version = await api.publish('again');
    await api.call('DELETE', path);
    expect(await api.publish('again')).toBe(version + 1);
    api.clock.advance(1000);
    await make('again');
    const { data } = (await api.call('GET', path)).json;
    expect(data).toMatchObject({ config_version: version + 1 });
    expect((await post('/v1/environments', { name: 'again' })).status).toBe(409);
  });

  it('either deletes the environment or creates a service in it, if both happen at once', async () => {
    for (let round = 0; round < 20; round += 1) {
      const name = `race-${round}`;
      const path = await make(name);
      const service = { name: 'a', environment: name, url: 'http://a.example' };
      const [deleted, created] = await Promise.all([
        api.call('DELETE', path),
        post('/v1/services', service),
      ]);
      expect([
        [204, 400],
        [409, 201],
      ]).toContainEqual([deleted.status, created.status]);
    }
  });

  it('needs a token of all environments', async () => {
    const path = await make('guarded');
    const body = { name: 'narrow', environments: ['guarded'], scopes: ['config:write'] };
    const token = await api.makeToken(body);
    expectError(await api.call('DELETE', path, { token }), 401, 'authentication_failed');
  });
});

describe('GET /v1/whoami', () => {
  let api: TestApi;
  beforeAll(async () => void (api = await startTestApi()));
  afterAll(() => api.close());

  it('shows the token of the call, whatever its scopes are, and no secret', async () => {
    const body = {
      name: 'me',
      environments: ['production'],
      routes: ['orders'],
      scopes: ['proxy', 'config:write'],
      expires_at: '2030-06-01T00:00:00Z',
    };
    const made = await api.call('POST', '/v1/tokens', { body });
    const token = made.json.data?.secret ?? '';
    const answer = await api.call('GET', '/v1/whoami', { token });
    expect(answer.status).toBe(200);
    expect(answer.json.data).toMatchObject({
      id: made.json.data?.id,
      name: 'me',
      environments: ['production'],
      routes: ['orders'],
      scopes: ['proxy', 'config:write'],
      effective_scopes: ['proxy', 'config:write', 'config:read', 'audit:read'],
      expires_at: '2030-06-01T00:00:00.000Z',
      secret_expires_at: '2030-06-01T00:00:00.000Z',
    });
    expect(answer.text).not.toMatch(/gwt_[\w-]{5}/);
    expectError(await api.call('GET', '/v1/whoami', { token: null }), 401, 'authentication_failed');
  });

  it('shows when a secret that was rotated away ends', async () => {
    const body = { name: 'old', environments: ['production'], scopes: ['proxy'] };
    const made = await api.call('POST', '/v1/tokens', { body });
    const path = `/v1/tokens/${made.json.data?.id ?? ''}/rotate`;
    await api.call('POST', path, { body: { grace_seconds: 60 } });
    const token = made.json.data?.secret ?? '';
    const { data } = (await api.call('GET', '/v1/whoami', { token })).json;
    expect(data).toMatchObject({ expires_at: null, secret_expires_at: '2030-01-01T00:01:00.000Z' });
  });
});
