import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { covers } from '@gateway/shared/tokens/scopes';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { testSnapshot, testToken } from '@gateway/shared/test/snapshot';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const secret = createTokenSecret();
const bearer = (token = secret) => ({ authorization: `Bearer ${token}` });

type Reach = Parameters<typeof testToken>[1];

interface Setting {
  readonly gateway: TestDataPath;
  readonly upstream: TestUpstream;
  readonly call: (headers: Record<string, string>, route?: string) => Promise<Response>;
}

/** The same route in production, development and staging, each with its environment in the upstream path. */
async function setUp(reach: Reach, nowMs?: number): Promise<Setting> {
  const upstream = opened(await startUpstream());
  const token = testToken(secret, reach);
  const snapshots = ['production', 'development', 'staging'].map((environment): Snapshot => {
    const base = testSnapshot({ upstreams: [`${upstream.url}/${environment}`] }, secret);
    const [route] = base.routes;
    const open = { ...route, id: 'rte_open', name: 'open', auth: { type: 'none' } };
    return {
      ...base,
      environment,
      routes: [...base.routes, open as Snapshot['routes'][number]],
      tokens: covers(token.environments, environment) ? [token] : [],
    };
  });
  const clock = nowMs === undefined ? systemClock : { ...systemClock, nowMs: () => nowMs };
  const gateway = opened(await startTestDataPath({ upstreams: [] }, { snapshots, clock }));
  return {
    gateway,
    upstream,
    call: (headers, route = 'test') => fetch(`${gateway.url}/v1/proxy/${route}`, { headers }),
  };
}

describe('authentication', () => {
  it.each<[string, Record<string, string>, Reach]>([
    ['no token', {}, {}],
    ['an empty credential', { authorization: '' }, {}],
    ['the scheme alone', { authorization: 'Bearer' }, {}],
    ['another scheme', { authorization: `Basic ${secret}` }, {}],
    ['the token without a scheme', { authorization: secret }, {}],
    ['two credentials in one field', { authorization: `Bearer ${secret}, Bearer ${secret}` }, {}],
    ['a malformed token', { authorization: 'Bearer gwt_short' }, {}],
    ['an unknown token', bearer(createTokenSecret()), {}],
    ['a token in another case', bearer(secret.toUpperCase()), {}],
    ['an expired token', bearer(), { expires_at_ms: 1 }],
    ['a token of two environments, not the default', bearer(), { environments: ['staging', 'qa'] }],
    ['a token that lacks the route', bearer(), { routes: ['other'] }],
    ['a token that lacks the scope', bearer(), { scopes: ['services:read', 'routes:write'] }],
    ['a token of no scope', bearer(), { scopes: [] }],
    ['a token of no environment', bearer(), { environments: [] }],
    [
      'a header that names an environment beyond the token',
      { ...bearer(), 'x-gateway-environment': 'development' },
      { environments: ['production'] },
    ],
    [
      'a header that names an environment which does not exist, to a token of one',
      { ...bearer(), 'x-gateway-environment': 'nowhere' },
      { environments: ['production'] },
    ],
  ])('refuses %s with 401 and sends nothing to the upstream', async (_case, headers, reach) => {
    const { call, gateway, upstream } = await setUp(reach);
    const response = await call(headers);
    const error = await expectRefusal(response, 401, 'authentication_failed');
    expect(error.message).not.toContain('gwt_');
    expect(upstream.seen).toHaveLength(0);
    expect(await gateway.recordOf(response)).toMatchObject({
      status: 401,
      outcome: 'rejected',
      error_code: 'authentication_failed',
      attempts: [],
    });
  });

  it('accepts a token until it expires and not afterwards', async () => {
    const before = await setUp({ expires_at_ms: 5000 }, 4999);
    expect((await before.call(bearer())).status).toBe(200);
    const after = await setUp({ expires_at_ms: 5000 }, 5000);
    await expectRefusal(await after.call(bearer()), 401, 'authentication_failed');
  });

  it('refuses a token that its environment has revoked, even if an older configuration of another environment has it', async () => {
    const { call, gateway } = await setUp({});
    expect((await call(bearer())).status).toBe(200);
    await gateway.use({
      ...testSnapshot({ upstreams: ['http://127.0.0.1:1'] }, secret),
      tokens: [],
    });
    await expectRefusal(await call(bearer()), 401, 'authentication_failed');
    const headers = { ...bearer(), 'x-gateway-environment': 'staging' };
    expect((await call(headers)).status).toBe(200);
  });

  it('accepts the scheme in any case (RFC 9110 section 11.1)', async () => {
    const { call } = await setUp({});
    expect((await call({ authorization: `bEARER ${secret}` })).status).toBe(200);
  });

  it('answers 404 for an unknown route only if the token covers it', async () => {
    const known = await setUp({});
    const missing = await known.call(bearer(), 'missing');
    await expectRefusal(missing, 404, 'route_not_found');
    await expectRefusal(await known.call({}, 'missing'), 401, 'authentication_failed');
    const narrow = await setUp({ routes: ['test'] });
    await expectRefusal(await narrow.call(bearer(), 'missing'), 401, 'authentication_failed');
  });

  it.each<[string, Record<string, string>, Reach, string]>([
    ["the token's only one", {}, { environments: ['development'] }, 'development'],
    [
      'that of the header, if the token covers it',
      { 'x-gateway-environment': 'staging' },
      { environments: ['production', 'staging'] },
      'staging',
    ],
    [
      "the header's, to a token of all",
      { 'x-gateway-environment': 'development' },
      {},
      'development',
    ],
    ['the default', {}, { environments: ['development', 'production'] }, 'production'],
    ['the default, to a token of all', {}, {}, 'production'],
  ])('chooses the environment: %s', async (_case, headers, reach, environment) => {
    const { call, gateway, upstream } = await setUp(reach);
    const response = await call({ ...bearer(), ...headers });
    expect(response.status).toBe(200);
    expect(upstream.seen[0]?.url).toBe(`/${environment}`);
    expect(await gateway.recordOf(response)).toMatchObject({ environment, token_id: 'tok_test' });
  });

  it('answers 404 for an unknown environment to a token that covers all environments', async () => {
    const { call } = await setUp({});
    const response = await call({ ...bearer(), 'x-gateway-environment': 'nowhere' });
    await expectRefusal(response, 404, 'route_not_found');
  });

  it('requires no token on a route without authentication', async () => {
    const { call, gateway } = await setUp({});
    const response = await call({}, 'open');
    expect(response.status).toBe(200);
    expect(await gateway.recordOf(response)).toMatchObject({ token_id: null, outcome: 'success' });
    expect((await call(bearer(createTokenSecret()), 'open')).status).toBe(200);
    expect((await call({ authorization: 'Basic dXNlcjpwYXNz' }, 'open')).status).toBe(200);
  });
});
