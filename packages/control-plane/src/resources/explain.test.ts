import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import type { Reached } from '../fleet/ask-data-planes.ts';
import { expectError } from '../../test/expect-error.ts';
import { REFUSED_CALLER } from '../../test/explanation.ts';
import { startTestApi, type Answer, type TestApi } from '../../test/api.ts';

const STALE_AFTER_MS = 7000;

describe('POST /v1/routes/{id}/explain', () => {
  let api: TestApi;
  let reached: Reached;
  let asked: { id: string; message: string }[];
  let routeId: string;
  let tokenId: string;

  beforeAll(async () => {
    api = await startTestApi({
      ask: (id, message) => {
        asked.push({ id, message });
        return Promise.resolve(reached);
      },
    });
    const service = { name: 'orders', environment: 'production', url: 'https://orders.test' };
    const created = await api.call('POST', '/v1/services', { body: service });
    const route = { name: 'orders', service_id: idOf(created) };
    routeId = idOf(await api.call('POST', '/v1/routes', { body: route }));
    const token = { name: 'caller', environments: ['production'], scopes: ['proxy'] };
    tokenId = idOf(await api.call('POST', '/v1/tokens', { body: token }));
  });
  afterAll(() => api.close());

  const explain = (body: object, token?: string): Promise<Answer> => {
    asked = [];
    return api.call('POST', `/v1/routes/${routeId}/explain`, { body, ...(token && { token }) });
  };
  const beat = (id: string, version = 1) =>
    api.dataPlanes.take(
      heartbeatOf(id, { config_versions: { production: version } }),
      api.clock.monotonicMs(),
    );
  const messageOf = ({ json }: Answer) => String(json.error?.['message']);

  describe.each([
    ['method', { method: 'G T' }, 'method'],
    ['path without a slash', { path: 'orders' }, 'path'],
    ['path with a query', { path: '/a?b=1' }, 'path'],
    ['query with a space', { query: 'a b' }, 'query'],
    ['header name', { headers: { 'a b': 'c' } }, 'headers.a b'],
    ['header with a line break', { headers: { a: 'b\r\nc' } }, 'headers.a'],
    ['header of the body', { headers: { 'Content-Length': '3' } }, 'headers.Content-Length'],
    ['upgrade', { headers: { upgrade: 'websocket' } }, 'headers.upgrade'],
    ['body that is no text', { body: {} }, 'body'],
    ['address', { client_ip: 'localhost' }, 'client_ip'],
    ['unknown token', { token_id: 'tok_01kb5zv4x8n3m6q9r2t7w0y1z4' }, 'token_id'],
    ['token id of another form', { token_id: 'nobody' }, 'token_id'],
    ['two callers', { token_id: 'tok_1', anonymous: true }, 'token_id'],
    [
      'anonymous caller with a credential',
      { anonymous: true, headers: { Authorization: 'x' } },
      'headers.Authorization',
    ],
    ['unknown field', { verb: 'GET' }, 'verb'],
    ['unknown data plane', { data_plane: 'nowhere' }, 'data_plane'],
  ])('a wrong %s', (_what, body, path) => {
    it(`is refused with ${path}, and nothing is asked`, async () => {
      beat('dp-1');
      const answer = await explain(body);
      expectError(answer, 400, 'invalid_request');
      const details = answer.json.error?.['details'] as { path: string }[];
      expect(details.map((detail) => detail.path)).toEqual([path]);
      expect(asked).toEqual([]);
    });
  });

  it('refuses a second credential in the header that carries the token', async () => {
    const headers = { authorization: 'Bearer mine' };
    const answer = await explain({ token_id: tokenId, headers });
    expectError(answer, 400, 'invalid_request');
    expect(answer.text).toContain('headers.authorization');
    expect(answer.text).not.toContain('mine');
  });

  it('needs the scope config:read and the route', async () => {
    const reader = await api.makeToken({ name: 'r', environments: ['*'], scopes: ['routes:read'] });
    expectError(await explain({}, reader), 401, 'authentication_failed');
    const other = { name: 'o', environments: ['*'], routes: ['another'], scopes: ['config:read'] };
    expectError(await explain({}, await api.makeToken(other)), 401, 'authentication_failed');
    const unknown = '/v1/routes/rte_01kb5zv4x8n3m6q9r2t7w0y1z4/explain';
    expectError(await api.call('POST', unknown, { body: {} }), 404, 'route_not_found');
  });

  it.each([
    ['of a name', { 'X-Gateway-Environment': 'development' }],
    ['in lower case', { 'x-gateway-environment': 'development' }],
    ['that does not exist', { 'X-Gateway-Environment': 'nowhere' }],
    ['that is empty', { 'X-Gateway-Environment': '' }],
    ['beside its own', { 'X-Gateway-Environment': ['production', 'development'] }],
    [
      'in a second field',
      { 'x-gateway-environment': 'production', 'X-GATEWAY-Environment': 'development' },
    ],
    ['in a name that some systems read as the same', { X_Gateway_Environment: 'development' }],
  ])(
    'refuses an environment %s that is not that of the route, and asks nothing',
    async (_what, headers) => {
      beat('dp-1');
      const answer = await explain({ headers });
      expectError(answer, 400, 'invalid_request');
      const details = answer.json.error?.['details'] as { path: string; message: string }[];
      expect(details).toEqual([
        {
          path: `headers.${Object.keys(headers).at(-1)}`,
          message: 'must be production, the environment of the route, or be left out',
        },
      ]);
      expect(asked).toEqual([]);
    },
  );

  it('lets headers name the environment of the route', async () => {
    beat('dp-1');
    reached = { kind: 'silent' };
    await explain({ headers: { 'X-Gateway-Environment': ' production ' } });
    expect(JSON.parse(asked[0]?.message ?? '')).toMatchObject({
      fields: ['host', 'gateway', 'X-Gateway-Environment', 'production'],
    });
  });

  it.each<[string, object]>([
    ['environments', { environments: ['*'] }],
    ['environments of its own beside another', { environments: ['production', 'development'] }],
    ['routes', { routes: ['*'] }],
    ['scopes', { scopes: ['proxy', 'routes:write'] }],
  ])(
    'does not explain for a token that covers more %s than that of the call',
    async (what, more) => {
      beat('dp-1');
      const reach = { environments: ['production'], routes: ['orders'], scopes: ['proxy'] };
      const operator = await api.makeToken({
        ...reach,
        name: `operator ${what}`,
        scopes: ['proxy', 'config:read'],
      });
      const idOfToken = async (fields: object) =>
        idOf(await api.call('POST', '/v1/tokens', { body: { ...reach, ...fields } }));
      const beyond = await idOfToken({ name: `beyond ${what}`, ...more });
      expectError(await explain({ token_id: beyond }, operator), 401, 'authentication_failed');
      expect(asked).toEqual([]);
      reached = { kind: 'silent' };
      await explain({ token_id: await idOfToken({ name: `within ${what}` }) }, operator);
      expect(asked).toHaveLength(1);
    },
  );

  it.each([
    ['another environment', { environment: 'development' }],
    ['another route', { route_id: 'rte_01kb5zv4x8n3m6q9r2t7w0y1z4' }],
  ])('never passes on an answer about %s', async (_what, other) => {
    beat('dp-1');
    const answered = (fields: object): Reached => {
      const explanation = {
        ...REFUSED_CALLER,
        environment: 'production',
        route_id: routeId,
        ...fields,
      };
      const answer = { format: 1, explanation, problem: null };
      return { kind: 'answer', data: Buffer.from(JSON.stringify(answer)) };
    };
    reached = answered({});
    expect((await explain({})).status).toBe(200);
    reached = answered(other);
    const refused = await explain({});
    expectError(refused, 503, 'data_plane_unavailable');
    expect(messageOf(refused)).toContain('has another configuration');
    for (const value of Object.values(other)) expect(refused.text).not.toContain(value);
  });

  it('asks the data plane that serves the newest version, or the one that is named', async () => {
    reached = { kind: 'silent' };
    beat('dp-1', 3);
    beat('dp-2', 4);
    await explain({});
    expect(asked.map(({ id }) => id)).toEqual(['dp-2']);
    await explain({ data_plane: 'dp-1' });
    expect(asked.map(({ id }) => id)).toEqual(['dp-1']);
    expect(JSON.parse(asked[0]?.message ?? '')).toMatchObject({
      method: 'GET',
      path: '/v1/proxy/orders',
      fields: ['host', 'gateway', 'x-gateway-environment', 'production'],
      client_ip: '127.0.0.1',
    });
  });

  it('says which data plane is silent, too old, not understood, or failed', async () => {
    beat('dp-1');
    const refusal = async (next: Reached) => {
      reached = next;
      const answer = await explain({ data_plane: 'dp-1' });
      return [answer.status, messageOf(answer)];
    };
    const answered = (answer: object): Reached => ({
      kind: 'answer',
      data: Buffer.from(JSON.stringify(answer)),
    });
    const failed = { format: 1, explanation: null, problem: 'failed' };
    expect(await refusal({ kind: 'silent' })).toEqual([
      503,
      'The data plane dp-1 did not answer within 3 s. Name another one in data_plane.',
    ]);
    expect(await refusal({ kind: 'not_listening' })).toEqual([
      503,
      expect.stringContaining('its version, 1.2.3, is too old'),
    ]);
    expect(await refusal({ kind: 'away' })).toEqual([
      503,
      'NATS cannot be reached, so no data plane can be asked.',
    ]);
    expect(await refusal(answered({ format: 9 }))).toEqual([
      503,
      expect.stringContaining('do not understand each other'),
    ]);
    expect(await refusal(answered({ ...failed, problem: 'unreadable' }))).toEqual([
      503,
      expect.stringContaining('do not understand each other'),
    ]);
    expect(await refusal(answered(failed))).toEqual([
      500,
      'The data plane dp-1 could not explain the request. Its log has the reason.',
    ]);
  });

  it('tries another data plane if the first one does not listen', async () => {
    reached = { kind: 'not_listening' };
    beat('dp-1');
    beat('dp-2', 2);
    expectError(await explain({}), 503, 'data_plane_unavailable');
    expect(asked.map(({ id }) => id)).toEqual(['dp-2', 'dp-1']);
  });

  it('says that a data plane, or all of them, are not live', async () => {
    beat('dp-1');
    beat('dp-2');
    api.clock.advance(STALE_AFTER_MS);
    const none = await explain({});
    expectError(none, 503, 'data_plane_unavailable');
    expect(messageOf(none)).toBe('No data plane is live.');
    expect(messageOf(await explain({ data_plane: 'dp-1' }))).toBe(
      'The data plane dp-1 is not live: its last heartbeat is 7 s old.',
    );
    expect(asked).toEqual([]);
  });
});

function idOf({ json }: Answer): string {
  return (json['data'] as { id: string }).id;
}
