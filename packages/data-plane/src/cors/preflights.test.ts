import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startUpstream } from '@gateway/shared/test/upstream';
import {
  corsGateway,
  corsOf,
  OTHER_PAGE,
  PAGE,
  preflight,
  send,
  type Answer,
  type RouteFields,
} from '../../test/cors-world.ts';

const opened = closeAfterEach();

async function setUp(
  routes: readonly RouteFields[],
  staging: readonly RouteFields[] = [],
  settings: Readonly<Record<string, string>> = {},
) {
  const upstream = opened(await startUpstream());
  const gateway = opened(
    await corsGateway(upstream.url, { production: routes, staging }, settings),
  );
  return { upstream, gateway };
}

/** The fields by which a browser decides. */
function permission({ fields }: Answer): Readonly<Record<string, string>> {
  const named = Object.entries(fields).filter(([name]) => name.startsWith('access-control-'));
  return Object.fromEntries(
    named.map(([name, value]) => [name.replace('access-control-', ''), value]),
  );
}

function onPath(prefix: string, ...headers: [string, string][]): SnapshotRoute['match'] {
  return [
    {
      hosts: ['api.example.com'],
      paths: [{ prefix }],
      headers: headers.map(([name, value]) => ({ name, value })),
    },
  ];
}

describe('a preflight', () => {
  it('is answered without a credential, an upstream and a quota, and has a record of its kind', async () => {
    const cors = corsOf({ max_age_s: 60 });
    const routes = [{ name: 'a', cors, methods: ['GET', 'PUT'] }];
    const { gateway, upstream } = await setUp(routes);
    const answer = await send(gateway, '/v1/proxy/a/x', preflight('PUT', 'x-one,Content-Type'));
    expect(answer).toMatchObject({ status: 204, body: '' });
    expect(permission(answer)).toEqual({
      'allow-origin': PAGE,
      'allow-methods': 'GET, PUT',
      'allow-headers': 'x-one, content-type',
      'max-age': '60',
    });
    expect(answer.fields['vary']).toBe(
      'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    );
    expect(await gateway.recordOf(answer.fields['x-request-id'] ?? '')).toMatchObject({
      kind: 'preflight',
      policies: ['cors'],
      route: 'a',
      status: 204,
      outcome: 'success',
      token_id: null,
      rate_limit: { limit: 6000, remaining: 5999 },
    });
    expect(upstream.seen).toEqual([]);
    expect(gateway.records).toHaveLength(1);
    const metrics = await gateway.registry.metrics();
    expect(metrics).toContain(
      'gateway_preflights_total{environment="production",route="a",status="204"} 1\n',
    );
    expect(metrics).not.toMatch(/^gateway_requests_total\{/m);
    expect(metrics).toMatch(/^gateway_latency_seconds_count 0$/m);
  });

  it('gets the methods and headers that the route lists, and credentials only with the origin itself', async () => {
    const lists = { methods: ['GET', 'DELETE', 'PATCH'], headers: ['X-One', 'Authorization'] };
    const { gateway } = await setUp([
      { name: 'lists', methods: ['GET', 'DELETE'], cors: corsOf({ ...lists, credentials: true }) },
      { name: 'public', cors: corsOf({ origins: ['*'] }) },
    ]);
    const asked = preflight('DELETE', 'x-two,x-one');
    expect(permission(await send(gateway, '/v1/proxy/lists', asked))).toEqual({
      'allow-origin': PAGE,
      'allow-methods': 'GET, DELETE',
      'allow-headers': 'x-one',
      'allow-credentials': 'true',
      'max-age': '600',
    });
    const anybody = await send(gateway, '/v1/proxy/public', preflight('GET', '', 'null'));
    expect(permission(anybody)).toMatchObject({ 'allow-origin': '*' });
    expect(permission(anybody)).not.toHaveProperty('allow-credentials');
  });

  it('tells nobody whether a route exists, except a page that may call it', async () => {
    const { gateway, upstream } = await setUp(
      [
        { name: 'allowed', cors: corsOf() },
        { name: 'plain' },
        { name: 'open', auth: { type: 'none' }, cors: corsOf() },
      ],
      [{ name: 'staged', cors: corsOf() }],
    );
    const body = (text: string) => text.replace(/req_\w+/, 'ID');
    const seen = ({ status, fields, body: text }: Answer) => {
      const { 'x-request-id': _id, 'x-ratelimit-remaining': _left, date: _date, ...rest } = fields;
      return { status, fields: { ...rest, 'x-gateway-latency': '' }, body: body(text) };
    };
    const usual = seen(await send(gateway, '/v1/proxy/missing', preflight()));
    expect(usual.status).toBe(401);
    const others = [
      ['plain', preflight()],
      ['staged', preflight()],
      ['allowed', preflight('POST', '', OTHER_PAGE)],
      ['allowed', { ...preflight(), method: 'GET', fields: { origin: OTHER_PAGE } }],
      ['allowed', { ...preflight(), fields: { 'access-control-request-method': 'PUT' } }],
    ] as const;
    for (const [name, call] of others) {
      expect(seen(await send(gateway, `/v1/proxy/${name}`, call))).toEqual(usual);
    }
    expect(upstream.seen).toEqual([]);
    // Nobody needs to be told of an open route. Its upstream has no say.
    const open = await send(gateway, '/v1/proxy/open', preflight('PUT', '', OTHER_PAGE));
    expect(open).toMatchObject({ status: 200, fields: { vary: 'Origin' } });
    expect(permission(open)).toEqual({});
    expect(upstream.seen).toHaveLength(1);
  });

  it('is answered for an environment by its host, whatever the default is', async () => {
    const match = onPath('/');
    const { gateway } = await setUp([{ name: 'a' }], [{ name: 'a', cors: corsOf(), match }]);
    const at = async (path: string, host?: string) =>
      send(gateway, path, { ...preflight(), ...(host === undefined ? {} : { host }) });
    expect(await at('/orders', 'api.example.com')).toMatchObject({ status: 204 });
    expect(await at('/v1/proxy/a', 'api.example.com')).toMatchObject({ status: 204 });
    expect(await at('/v1/proxy/a')).toMatchObject({ status: 401 });
    const named = { ...preflight().fields, 'x-gateway-environment': 'staging' };
    const other = await send(gateway, '/v1/proxy/a', { method: 'OPTIONS', fields: named });
    expect(other).toMatchObject({ status: 401 });
  });

  it('is answered as every route allows that the request may reach by its headers', async () => {
    const version = (value: string) => ['x-version', value] as [string, string];
    const cors = (methods: string[], max_age_s = 600) => corsOf({ methods, max_age_s });
    const { gateway } = await setUp([
      { name: 'v1', match: onPath('/pay'), cors: cors(['GET', 'PUT']) },
      { name: 'v2', match: onPath('/pay', version('2')), cors: cors(['PUT', 'DELETE'], 5) },
      { name: 'closed', match: onPath('/pay', ['x-key', 'a'], version('2')) },
      { name: 'fetched', match: onPath('/fetched', ['sec-fetch-mode', 'cors']), cors: corsOf() },
    ]);
    const ask = async (headers: string, path = '/pay') =>
      send(gateway, path, { ...preflight('PUT', headers), host: 'api.example.com' });
    expect(permission(await ask(''))).toMatchObject({ 'allow-methods': 'GET, PUT' });
    const either = await ask('x-version');
    expect(permission(either)).toMatchObject({ 'allow-methods': 'PUT', 'max-age': '5' });
    expect(await gateway.recordOf(either.fields['x-request-id'] ?? '')).toMatchObject({
      route: 'v2',
    });
    expect(await ask('x-key,x-version')).toMatchObject({ status: 401 });
    expect(await ask('not a name')).toMatchObject({ status: 401 });
    expect(await ask('', '/fetched')).toMatchObject({ status: 204 });
    expect(await ask('', '/nowhere')).toMatchObject({ status: 404 });
  });

  it('is refused with 429 beyond the bound of its address, which other requests do not use', async () => {
    const { gateway } = await setUp([{ name: 'a', cors: corsOf() }], [], { PREFLIGHT_LIMIT: '2' });
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      await send(gateway, '/v1/proxy/a', { fields: { origin: PAGE } });
      statuses.push((await send(gateway, '/v1/proxy/a', preflight())).status);
    }
    expect(statuses).toEqual([204, 204, 429]);
    const refused = await send(gateway, '/v1/proxy/a', preflight());
    expect(refused.fields).toMatchObject({
      'access-control-allow-origin': PAGE,
      'x-gateway-error': 'rate_limit_exceeded',
      'x-ratelimit-limit': '2',
    });
    expect(refused.fields['retry-after']).toMatch(/^\d+$/);
    expect(await gateway.recordOf(refused.fields['x-request-id'] ?? '')).toMatchObject({
      kind: 'preflight',
      error_stage: 'preflight',
    });
  });
});
