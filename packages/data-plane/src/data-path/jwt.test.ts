import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/testing/eventually';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath, testSnapshot } from '../testing/data-path.ts';
import { closeAfterEach } from '../testing/opened.ts';
import { rawCall } from '../testing/raw-client.ts';
import { expectRefusal } from '../testing/refusal.ts';
import {
  createIssuerKey,
  ISSUER,
  startTokenIssuer,
  type Claims,
  type TokenIssuer,
} from '../testing/token-issuer.ts';
import { startUpstream } from '../testing/upstream.ts';

const opened = closeAfterEach();

/** A route that takes the JWTs of a real issuer. */
async function setUp(
  auth: Parameters<TokenIssuer['auth']>[0] = {},
  fields: Partial<SnapshotRoute> = {},
  options: Parameters<typeof startTestDataPath>[1] = {},
) {
  const upstream = opened(await startUpstream());
  const issuer = opened(await startTokenIssuer());
  const route = { upstreams: [upstream.url], auth: issuer.auth(auth), ...fields };
  const gateway = opened(await startTestDataPath(route, options));
  const call = (token: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1/proxy/test`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
  return {
    ...{ upstream, issuer, route, gateway, call },
    callWith: async (claims: Claims = {}) => call(await issuer.token(claims)),
  };
}

const invalid = 'Bearer error="invalid_token"';

describe('a route that takes JWTs', () => {
  it('forwards for a caller whose token holds, and names it to the upstream and in the record', async () => {
    const { gateway, upstream, callWith } = await setUp({
      required_claims: [{ name: 'tenant', values: ['blue', 'green'] }],
    });
    const response = await callWith({ tenant: 'blue', email: 'user@example.com' });
    expect(response.status).toBe(200);
    expect(upstream.seen[0]?.headers).toMatchObject({ 'x-gateway-subject': 'user-1' });
    expect(await gateway.recordOf(response)).toMatchObject({
      ...{ outcome: 'success', token_id: null, subject: 'user-1' },
      claims: { iss: ISSUER, aud: 'orders-api', tenant: 'blue' },
    });
  });

  it('keeps the token out of the upstream’s request, the record, the log and the metrics', async () => {
    const { gateway, upstream, issuer, call } = await setUp();
    const good = await issuer.token();
    const bad = await issuer.token({ iss: 'other' });
    const spoofed = { 'x-gateway-subject': 'admin' };
    const responses = [await call(good, spoofed), await call(good), await call(bad)];
    expect(responses.map((response) => response.status)).toEqual([200, 200, 401]);
    const bodies = await Promise.all(responses.map((response) => response.text()));
    for (const response of responses) await gateway.recordOf(response);
    const metrics = await gateway.registry.metrics();
    await gateway.stop();
    const told = JSON.stringify([
      bodies,
      upstream.seen,
      gateway.records,
      gateway.logLines,
      metrics,
    ]);
    for (const token of [good, bad]) {
      for (const part of token.split('.').slice(1)) expect(told).not.toContain(part);
    }
    expect(gateway.logLines.join()).toContain('"msg":"request"');
    expect(upstream.seen.map((seen) => seen.headers['x-gateway-subject'])).toEqual([
      'user-1',
      'user-1',
    ]);
  });

  it.each<[string, Record<string, string>, string]>([
    ['no token', {}, 'Bearer'],
    ['a token of the gateway', { authorization: `Bearer ${createTokenSecret()}` }, invalid],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }, invalid],
    ['garbage', { authorization: 'Bearer a.b.c' }, invalid],
    ['the token in X-API-Key', { 'x-api-key': 'a.b.c' }, 'Bearer'],
  ])('refuses %s', async (_case, headers, challenge) => {
    const { gateway, upstream } = await setUp();
    const response = await fetch(`${gateway.url}/v1/proxy/test`, { headers });
    await expectRefusal(response, 401, 'authentication_failed');
    expect(response.headers.get('www-authenticate')).toBe(challenge);
    expect(upstream.seen).toHaveLength(0);
    expect(await gateway.recordOf(response)).toMatchObject({
      ...{ outcome: 'rejected', subject: null, claims: null, attempts: [] },
    });
  });

  it.each<[string, Claims, string]>([
    ['of another issuer', { iss: 'https://other.test/' }, 'issuer'],
    ['for another audience', { aud: 'other' }, 'audience'],
    ['that has expired', { exp: 1 }, 'expired'],
    ['that is not valid yet', { nbf: 9_999_999_999 }, 'not valid yet'],
    ['that never ends', { exp: undefined }, 'exp'],
    ['without a required claim', { tenant: undefined }, 'lacks the claim tenant'],
    ['with another value of a required claim', { tenant: 'red' }, 'claim tenant'],
  ])('refuses a token %s with the reason', async (_case, claims, reason) => {
    const required_claims = [{ name: 'tenant', values: ['blue'] }];
    const { upstream, callWith } = await setUp({ required_claims });
    expect((await callWith({ tenant: 'blue' })).status).toBe(200);
    const response = await callWith({ tenant: 'blue', ...claims });
    const error = await expectRefusal(response, 401, 'authentication_failed');
    expect(error.message).toContain(reason);
    expect(response.headers.get('www-authenticate')).toBe(invalid);
    expect(upstream.seen).toHaveLength(1);
  });

  it('refuses a token of an algorithm that it does not take, and one that is unsigned', async () => {
    const { issuer, upstream, call } = await setUp({ algorithms: ['RS256'] });
    const token = await issuer.token();
    await expectRefusal(await call(token), 401, 'authentication_failed');
    const header = Buffer.from('{"alg":"none"}').toString('base64url');
    const unsigned = `${header}.${token.split('.')[1]}.`;
    await expectRefusal(await call(unsigned), 401, 'authentication_failed');
    expect(upstream.seen).toHaveLength(0);
  });

  it('counts a refused token against the allowance of the address, and a valid one not', async () => {
    const { callWith } = await setUp({}, {}, { environment: { AUTH_FAILURE_LIMIT: '2' } });
    for (const left of ['1', '0']) {
      const refused = await callWith({ exp: 1 });
      await expectRefusal(refused, 401, 'authentication_failed');
      expect(refused.headers.get('x-ratelimit-remaining')).toBe(left);
    }
    await expectRefusal(await callWith({ exp: 1 }), 429, 'rate_limit_exceeded');
    expect((await callWith()).status).toBe(200);
  });

  it('reads the environment from X-Gateway-Environment, else takes the default', async () => {
    const upstream = opened(await startUpstream());
    const issuer = opened(await startTokenIssuer());
    const snapshots = ['production', 'staging'].map((environment) => ({
      ...testSnapshot(
        { upstreams: [`${upstream.url}/${environment}`], auth: issuer.auth() },
        createTokenSecret(),
      ),
      environment,
    }));
    const gateway = opened(await startTestDataPath({ upstreams: [] }, { snapshots }));
    const authorization = `Bearer ${await issuer.token()}`;
    for (const environment of [undefined, 'staging', 'nowhere']) {
      const headers = {
        authorization,
        ...(environment !== undefined && { 'x-gateway-environment': environment }),
      };
      await fetch(`${gateway.url}/v1/proxy/test`, { headers });
    }
    expect(upstream.seen.map((seen) => seen.url)).toEqual(['/production', '/staging']);
  });

  it('takes the tokens of a new key while requests go on, and loses none', async () => {
    const { issuer, callWith, upstream } = await setUp();
    expect((await callWith()).status).toBe(200);
    const added = await createIssuerKey();
    let rotated = false;
    const statuses = new Set<number>();
    const running = (async () => {
      for (let index = 0; index < 60; index += 1) {
        if (index === 20) {
          issuer.keys = [added, ...issuer.keys];
          rotated = true;
        }
        statuses.add((await callWith({ sub: `user-${index}` })).status);
      }
    })();
    await running;
    expect(rotated).toBe(true);
    expect(statuses).toEqual(new Set([200]));
    expect(upstream.seen).toHaveLength(61);
    expect(issuer.fetches).toBe(2);
  });

  it('serves on with the keys that it has while the issuer is down', async () => {
    const { issuer, gateway, route, callWith } = await setUp();
    expect((await callWith()).status).toBe(200);
    await issuer.close();
    gateway.use(testSnapshot({ ...route, timeout_ms: 4000 }, createTokenSecret()));
    expect((await callWith({ sub: 'never seen' })).status).toBe(200);
    await expectRefusal(await callWith({ exp: 1 }), 401, 'authentication_failed');
  });

  it.each<[string, NonNullable<TokenIssuer['answer']>]>([
    ['answers an error', (response) => void response.writeHead(500).end()],
    ['answers garbage', (response) => void response.end('<html>')],
    ['answers what is no key set', (response) => void response.end('{"keys":7}')],
    ['answers without end', (response) => void response.write('x'.repeat(300_000))],
    ['redirects', (response) => void response.writeHead(302, { location: '/other' }).end()],
  ])('answers 503 where the issuer %s, and forwards nothing', async (_case, answer) => {
    const upstream = opened(await startUpstream());
    const issuer = opened(await startTokenIssuer());
    issuer.answer = answer;
    const route = { upstreams: [upstream.url], auth: issuer.auth() };
    const gateway = opened(await startTestDataPath(route));
    const headers = { authorization: `Bearer ${await issuer.token()}` };
    const call = () => fetch(`${gateway.url}/v1/proxy/test`, { headers });
    const response = await call();
    const error = await expectRefusal(response, 503, 'gateway_not_ready');
    expect(error.message).toContain('keys of its issuer');
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await gateway.recordOf(response)).toMatchObject({ outcome: 'rejected', subject: null });
    expect(upstream.seen).toHaveLength(0);
  });

  it('forwards as soon as the issuer is there', async () => {
    const upstream = opened(await startUpstream());
    const issuer = opened(await startTokenIssuer());
    issuer.answer = (response) => void response.writeHead(503).end();
    const route = { upstreams: [upstream.url], auth: issuer.auth() };
    const gateway = opened(await startTestDataPath(route));
    const headers = { authorization: `Bearer ${await issuer.token()}` };
    const call = () => fetch(`${gateway.url}/v1/proxy/test`, { headers });
    await expectRefusal(await call(), 503, 'gateway_not_ready');
    issuer.answer = undefined;
    await eventually(async () => expect((await call()).status).toBe(200));
  });

  it('holds a request up for an issuer that hangs no longer than its deadline, and no other one', async () => {
    const upstream = opened(await startUpstream());
    const issuer = opened(await startTokenIssuer());
    issuer.answer = () => undefined;
    const base = { upstreams: [upstream.url], timeout_ms: 300 };
    const token = createTokenSecret();
    const snapshot = testSnapshot({ ...base, auth: issuer.auth() }, token);
    const [route] = snapshot.routes;
    if (route === undefined) throw new Error('no route');
    const plain = { ...route, id: 'rte_plain', name: 'plain', auth: { type: 'token' as const } };
    const snapshots = [{ ...snapshot, routes: [route, plain] }];
    const gateway = opened(await startTestDataPath(base, { snapshots }));
    const jwt = { authorization: `Bearer ${await issuer.token()}` };
    const held = fetch(`${gateway.url}/v1/proxy/test`, { headers: jwt });
    const bearer = { authorization: `Bearer ${token}` };
    const other = await fetch(`${gateway.url}/v1/proxy/plain`, { headers: bearer });
    expect(other.status).toBe(200);
    const refused = await held;
    await expectRefusal(refused, 503, 'gateway_not_ready');
    const { timing } = await gateway.recordOf(refused);
    expect(timing.total_ms).toBeGreaterThanOrEqual(295);
    expect(timing.total_ms).toBeLessThan(3000);
  });

  it('goes to no issuer where no upstream may be', async () => {
    const denyCidrs = ['127.0.0.0/8'];
    const { issuer, gateway, callWith } = await setUp({}, {}, { denyCidrs });
    await expectRefusal(await callWith(), 503, 'gateway_not_ready');
    expect(issuer.fetches).toBe(0);
    expect(gateway.logLines.join()).toContain('"result":"address_refused"');
  });

  it('opens a WebSocket by a JWT and not without, under the same rules for its headers', async () => {
    const { gateway, issuer, upstream } = await setUp();
    const switching = ['Host: gateway', 'Connection: Upgrade', 'Upgrade: websocket'];
    await expectRefusal(
      await rawCall(gateway.port, { lines: switching }),
      401,
      'authentication_failed',
    );
    const token = await issuer.token();
    // The upstream speaks no WebSocket, and its answer says that the request came through.
    const answer = await rawCall(gateway.port, { lines: switching }, token);
    expect(answer.status).toBe(200);
    expect(upstream.seen).toHaveLength(1);
    expect(upstream.seen[0]?.headers).toMatchObject({ 'x-gateway-subject': 'user-1' });
    expect(upstream.seen[0]?.headers).not.toHaveProperty('authorization');
  });

  it('counts a quota per token for each subject', async () => {
    const rate_limit = { limit: 2, window_seconds: 3600, per: 'token' as const };
    const fixedMs = Date.now();
    const clock = { ...systemClock, nowMs: () => fixedMs };
    const { callWith } = await setUp({}, { rate_limit }, { clock });
    const statuses: number[] = [];
    for (const sub of ['a', 'a', 'a', 'b', 'b', 'b']) {
      statuses.push((await callWith({ sub, jti: String(statuses.length) })).status);
    }
    expect(statuses).toEqual([200, 200, 429, 200, 200, 429]);
  });
});
