import { describe, expect, it } from '@jest/globals';
import type { Snapshot, SnapshotAuth } from '@gateway/shared/snapshot/schema';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../test/data-path.ts';
import { testSnapshot, testToken } from '@gateway/shared/test/snapshot';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startTokenIssuer } from '@gateway/shared/test/token-issuer';
import { startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const secret = createTokenSecret();
const otherSecret = createTokenSecret();
const key = { 'x-api-key': secret };
const bearer = { authorization: `Bearer ${secret}` };

type Reach = Parameters<typeof testToken>[1];

/** Routes of each kind of authentication, in production and staging, named by it. */
async function setUp(reach: Reach = {}) {
  const upstream = opened(await startUpstream());
  const issuer = opened(await startTokenIssuer());
  const kinds: SnapshotAuth[] = [
    { type: 'token' },
    { type: 'api_key' },
    { type: 'none' },
    issuer.auth(),
  ];
  const snapshots = ['production', 'staging'].map((environment): Snapshot => {
    const base = testSnapshot({ upstreams: [`${upstream.url}/${environment}`] }, secret);
    return {
      ...base,
      environment,
      routes: base.routes.flatMap((route) =>
        kinds.map((auth) => ({ ...route, id: `rte_${auth.type}`, name: auth.type, auth })),
      ),
      tokens: [testToken(secret, reach), { ...testToken(otherSecret), id: 'tok_other' }],
    };
  });
  const gateway = opened(await startTestDataPath({ upstreams: [] }, { snapshots }));
  return {
    gateway,
    upstream,
    issuer,
    call: (route: string, headers: Record<string, string>) =>
      fetch(`${gateway.url}/v1/proxy/${route}`, { headers }),
  };
}

describe('a route with API keys', () => {
  it('accepts a workspace token in X-API-Key and does not send it to the upstream', async () => {
    const { call, gateway, upstream } = await setUp();
    const response = await call('api_key', key);
    expect(response.status).toBe(200);
    expect(upstream.seen[0]?.rawHeaders.join('\n')).not.toMatch(/gwt_|api.key/i);
    expect(await gateway.recordOf(response)).toMatchObject({
      token_id: 'tok_test',
      subject: null,
      claims: null,
      outcome: 'success',
    });
  });

  it('forwards the upstream’s own credential next to the key', async () => {
    const { call, upstream } = await setUp();
    const authorization = 'Basic dXNlcjpwYXNz';
    expect((await call('api_key', { ...key, authorization })).status).toBe(200);
    expect(upstream.seen[0]?.headers.authorization).toBe(authorization);
  });

  it.each<[string, Record<string, string>, Reach]>([
    ['no key', {}, {}],
    ['an empty key', { 'x-api-key': '' }, {}],
    ['an unknown key', { 'x-api-key': createTokenSecret() }, {}],
    ['a key of another form', { 'x-api-key': 'secret' }, {}],
    ['a key with a scheme', { 'x-api-key': `Bearer ${secret}` }, {}],
    ['the token in Authorization', bearer, {}],
    ['two tokens', { authorization: `Bearer ${otherSecret}`, ...key }, {}],
    ['an expired key', key, { expires_at_ms: 1 }],
    ['a key without the scope', key, { scopes: ['routes:read'] }],
    ['a key without the route', key, { routes: ['token'] }],
    ['a key of other environments', key, { environments: ['qa', 'development'] }],
    [
      'an environment beyond the key',
      { ...key, 'x-gateway-environment': 'staging' },
      { environments: ['production'] },
    ],
  ])('refuses %s with 401', async (_case, headers, reach) => {
    const { call, gateway, upstream } = await setUp(reach);
    const response = await call('api_key', headers);
    const error = await expectRefusal(response, 401, 'authentication_failed');
    expect(error.message).not.toContain('gwt_');
    expect(upstream.seen).toHaveLength(0);
    expect(JSON.stringify(await gateway.recordOf(response))).not.toContain('gwt_');
  });

  it('answers 400 to a key that is sent twice', async () => {
    const { gateway, upstream } = await setUp();
    const lines = ['Host: gateway', `X-API-Key: ${secret}`, 'X-Api-Key: other'];
    const response = await rawCall(gateway.port, { target: '/v1/proxy/api_key', lines });
    const error = await expectRefusal(response, 400, 'invalid_request');
    expect(error.details).toMatchObject([{ path: 'x-api-key' }]);
    expect(upstream.seen).toHaveLength(0);
  });

  it('takes the environment from the key', async () => {
    const { call, upstream } = await setUp({ environments: ['staging'] });
    expect((await call('api_key', key)).status).toBe(200);
    expect(upstream.seen[0]?.url).toBe('/staging');
  });

  it('counts failures against the allowance of the address', async () => {
    const { call } = await setUp();
    const before = Number((await call('api_key', {})).headers.get('x-ratelimit-remaining'));
    const after = await call('api_key', { 'x-api-key': 'wrong' });
    expect(Number(after.headers.get('x-ratelimit-remaining'))).toBe(before - 1);
  });

  it('answers 404 for an unknown route to a caller with a token in either header', async () => {
    const { call } = await setUp();
    await expectRefusal(await call('missing', key), 404, 'route_not_found');
    await expectRefusal(await call('missing', bearer), 404, 'route_not_found');
    await expectRefusal(await call('missing', {}), 401, 'authentication_failed');
    await expectRefusal(await call('missing', { ...bearer, ...key }), 404, 'route_not_found');
    const two = { ...bearer, 'x-api-key': otherSecret };
    await expectRefusal(await call('missing', two), 401, 'authentication_failed');
  });
});

describe('a gateway token in a header that the route does not accept', () => {
  it.each(['token', 'jwt'])('is refused in X-API-Key on a route of type %s', async (kind) => {
    const { call, upstream } = await setUp();
    await expectRefusal(await call(kind, key), 401, 'authentication_failed');
    expect(upstream.seen).toHaveLength(0);
  });

  it('is ignored on a route without authentication and not forwarded', async () => {
    const { call, gateway, upstream } = await setUp({ expires_at_ms: 1 });
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    const presented: Record<string, string>[] = [
      key,
      bearer,
      { ...bearer, ...key },
      { 'x-api-key': `Bearer ${createTokenSecret()}` },
      { authorization: basic(`user:${secret}`) },
      { authorization: basic(`${secret}:`) },
      { authorization: basic(createTokenSecret()).replace('Basic', 'bAsIc  ') },
    ];
    for (const headers of presented) {
      const response = await call('none', headers);
      expect(response.status).toBe(200);
      expect(await gateway.recordOf(response)).toMatchObject({ token_id: null });
    }
    for (const seen of upstream.seen) {
      expect(seen.headers).not.toHaveProperty('authorization');
      expect(seen.headers).not.toHaveProperty('x-api-key');
    }
    expect(upstream.seen).toHaveLength(presented.length);
  });

  it('is not forwarded in X-API-Key next to the credential that the route accepts', async () => {
    const { call, issuer, upstream } = await setUp();
    const jwt = { authorization: `Bearer ${await issuer.token()}` };
    expect((await call('jwt', { ...jwt, ...key })).status).toBe(200);
    expect(upstream.seen[0]?.rawHeaders.join('\n')).not.toContain('gwt_');
    const two = { ...bearer, 'x-api-key': otherSecret };
    await expectRefusal(await call('token', two), 401, 'authentication_failed');
  });

  it('does not stop the upstream’s own API key from being forwarded', async () => {
    const { call, gateway, issuer, upstream } = await setUp();
    const own = { 'x-api-key': 'key-of-the-upstream' };
    await call('none', own);
    await call('token', { ...bearer, ...own });
    await call('jwt', { authorization: `Bearer ${await issuer.token()}`, ...own });
    const seen = upstream.seen.map((one) => one.headers['x-api-key']);
    expect(seen).toEqual(Array(3).fill('key-of-the-upstream'));
    const target = '/v1/proxy/none';
    const host = 'Host: gateway';
    const named = ['X-API-Key: key-of-the-upstream', 'Connection: x-api-key'];
    await rawCall(gateway.port, { target, lines: [host, ...named] });
    await rawCall(gateway.port, { target, lines: [host, 'x_api_key: alias'] });
    for (const one of upstream.seen.slice(3)) expect(one.rawHeaders.join()).not.toMatch(/api.key/i);
    expect(upstream.seen).toHaveLength(5);
  });
});
