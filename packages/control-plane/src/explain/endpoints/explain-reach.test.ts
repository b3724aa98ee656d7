import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Reached } from '../../data-planes/ask-data-planes.ts';
import { expectError } from '../../../test/expect-error.ts';
import {
  idOf,
  messageOf,
  startExplainWorld,
  type ExplainWorld,
} from '../../../test/explain-world.ts';
import { REFUSED_CALLER } from '../../../test/explanation.ts';

describe('POST /v1/routes/{id}/explain', () => {
  let world: ExplainWorld;

  beforeAll(async () => {
    world = await startExplainWorld();
  });
  afterAll(() => world.api.close());

  const explain: ExplainWorld['explain'] = (...given) => world.explain(...given);
  const beat: ExplainWorld['beat'] = (...given) => world.beat(...given);

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
      expect(world.asked).toEqual([]);
    },
  );

  it('lets headers name the environment of the route', async () => {
    beat('dp-1');
    world.reached = { kind: 'silent' };
    await explain({ headers: { 'X-Gateway-Environment': ' production ' } });
    expect(JSON.parse(world.asked[0]?.message ?? '')).toMatchObject({
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
      const operator = await world.api.makeToken({
        ...reach,
        name: `operator ${what}`,
        scopes: ['proxy', 'config:read'],
      });
      const idOfToken = async (fields: object) =>
        idOf(await world.api.call('POST', '/v1/tokens', { body: { ...reach, ...fields } }));
      const beyond = await idOfToken({ name: `beyond ${what}`, ...more });
      expectError(await explain({ token_id: beyond }, operator), 401, 'authentication_failed');
      expect(world.asked).toEqual([]);
      world.reached = { kind: 'silent' };
      await explain({ token_id: await idOfToken({ name: `within ${what}` }) }, operator);
      expect(world.asked).toHaveLength(1);
    },
  );

  it.each([
    ['an environment that the token covers', 'production', 'orders', true],
    ['an environment that it does not cover', 'development', 'orders', false],
    ['a route that it does not cover', 'production', 'payments', false],
  ])('names the route that gets a request of %s', async (_what, environment, route, isNamed) => {
    beat('dp-1');
    const way = { hosts: ['api.example.com'], paths: [{ prefix: '/' }], headers: [] };
    const reason = 'A way of this route takes the request, but another route gets it.';
    const explanation = {
      ...REFUSED_CALLER,
      reached_by: { environment, route, way, reason },
      outcome: { ...REFUSED_CALLER.outcome, decision: 'elsewhere', stage: 'resolve_route' },
    };
    const answer = { format: 1, explanation, problem: null };
    world.reached = { kind: 'answer', data: Buffer.from(JSON.stringify(answer)) };
    const reach = { environments: ['production'], routes: ['orders'], scopes: ['config:read'] };
    const reader = await world.api.makeToken({ name: `reader ${environment} ${route}`, ...reach });
    const { json } = await explain({ host: 'api.example.com', path: '/a' }, reader);
    const hidden = { environment: null, route: null, way: null };
    expect(json.data).toMatchObject({
      reached_by: { ...(isNamed ? { environment, route, way } : hidden), reason },
    });
  });

  it.each([
    ['another environment', { environment: 'development' }],
    ['another route', { route_id: 'rte_01kb5zv4x8n3m6q9r2t7w0y1z4' }],
  ])('never passes on an answer about %s', async (_what, other) => {
    beat('dp-1');
    const answered = (fields: object): Reached => {
      const explanation = {
        ...REFUSED_CALLER,
        environment: 'production',
        route_id: world.routeId,
        ...fields,
      };
      const answer = { format: 1, explanation, problem: null };
      return { kind: 'answer', data: Buffer.from(JSON.stringify(answer)) };
    };
    world.reached = answered({});
    expect((await explain({})).status).toBe(200);
    world.reached = answered(other);
    const refused = await explain({});
    expectError(refused, 503, 'data_plane_unavailable');
    expect(messageOf(refused)).toContain('has another configuration');
    for (const value of Object.values(other)) expect(refused.text).not.toContain(value);
  });
});
