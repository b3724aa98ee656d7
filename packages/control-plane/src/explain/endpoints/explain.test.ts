import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Reached } from '../../data-planes/ask-data-planes.ts';
import { expectError } from '../../../test/expect-error.ts';
import {
  idOf,
  messageOf,
  startExplainWorld,
  type ExplainWorld,
} from '../../../test/explain-world.ts';

const STALE_AFTER_MS = 7000;

describe('POST /v1/routes/{id}/explain', () => {
  let world: ExplainWorld;
  let tokenId: string;

  beforeAll(async () => {
    world = await startExplainWorld();
    const token = { name: 'caller', environments: ['production'], scopes: ['proxy'] };
    tokenId = idOf(await world.api.call('POST', '/v1/tokens', { body: token }));
  });
  afterAll(() => world.api.close());

  const explain: ExplainWorld['explain'] = (...given) => world.explain(...given);
  const beat: ExplainWorld['beat'] = (...given) => world.beat(...given);

  describe.each([
    ['method', { method: 'G T' }, 'method'],
    ['path without a slash', { path: 'orders' }, 'path'],
    ['path with a query', { path: '/a?b=1' }, 'path'],
    ['host', { host: 'a b', path: '/' }, 'host'],
    ['host without a path', { host: 'a.example' }, 'path'],
    ['host with a name of a route', { host: 'a.example', path: '/v1/proxy/b' }, 'path'],
    ['two hosts', { host: 'a', path: '/', headers: { Host: 'b' } }, 'headers.Host'],
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
      expect(world.asked).toEqual([]);
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
    const reader = await world.api.makeToken({
      name: 'r',
      environments: ['*'],
      scopes: ['routes:read'],
    });
    expectError(await explain({}, reader), 401, 'authentication_failed');
    const other = { name: 'o', environments: ['*'], routes: ['another'], scopes: ['config:read'] };
    expectError(await explain({}, await world.api.makeToken(other)), 401, 'authentication_failed');
    const unknown = '/v1/routes/rte_01kb5zv4x8n3m6q9r2t7w0y1z4/explain';
    expectError(await world.api.call('POST', unknown, { body: {} }), 404, 'route_not_found');
  });

  it('asks the data plane that serves the newest version, or the one that is named', async () => {
    world.reached = { kind: 'silent' };
    beat('dp-1', 3);
    beat('dp-2', 4);
    await explain({});
    expect(world.asked.map(({ id }) => id)).toEqual(['dp-2']);
    await explain({ data_plane: 'dp-1' });
    expect(world.asked.map(({ id }) => id)).toEqual(['dp-1']);
    expect(JSON.parse(world.asked[0]?.message ?? '')).toMatchObject({
      method: 'GET',
      path: '/v1/proxy/orders',
      fields: ['host', 'gateway', 'x-gateway-environment', 'production'],
      client_ip: '127.0.0.1',
    });
  });

  it('says which data plane is silent, too old, not understood, or failed', async () => {
    beat('dp-1');
    const refusal = async (next: Reached) => {
      world.reached = next;
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
    world.reached = { kind: 'not_listening' };
    beat('dp-1');
    beat('dp-2', 2);
    expectError(await explain({}), 503, 'data_plane_unavailable');
    expect(world.asked.map(({ id }) => id)).toEqual(['dp-2', 'dp-1']);
  });

  it('says that a data plane, or all of them, are not live', async () => {
    beat('dp-1');
    beat('dp-2');
    world.api.clock.advance(STALE_AFTER_MS);
    const none = await explain({});
    expectError(none, 503, 'data_plane_unavailable');
    expect(messageOf(none)).toBe('No data plane is live.');
    expect(messageOf(await explain({ data_plane: 'dp-1' }))).toBe(
      'The data plane dp-1 is not live: its last heartbeat is 7 s old.',
    );
    expect(world.asked).toEqual([]);
  });
});
