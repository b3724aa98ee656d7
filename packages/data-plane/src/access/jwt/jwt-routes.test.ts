import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../../test/data-path.ts';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startJwtRoute } from '../../../test/jwt-route.ts';
import { SIGNATURE_CHECKS_PER_SECOND } from '../auth-failures.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { ISSUER, startTokenIssuer, type Claims } from '@gateway/shared/test/token-issuer';
import { startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

const invalid = 'Bearer error="invalid_token"';

describe('a route with JWTs', () => {
  it('forwards a request with a valid token and names the caller to the upstream and in the record', async () => {
    const { gateway, upstream, callWith } = await startJwtRoute(opened, {
      required_claims: [{ name: 'tenant', values: ['blue', 'green'] }],
    });
    const response = await callWith({ tenant: 'blue', email: 'user@example.com' });
    expect(response.status).toBe(200);
    expect(upstream.seen[0]?.headers).toMatchObject({ 'x-gateway-subject': 'user-1' });
    expect(await gateway.recordOf(response)).toMatchObject({
      outcome: 'success',
      token_id: null,
      subject: 'user-1',
      claims: { iss: ISSUER, aud: 'orders-api', tenant: 'blue' },
    });
  });

  it('keeps the token out of the upstream’s request, the record, the log and the metrics', async () => {
    const { gateway, upstream, issuer, call } = await startJwtRoute(opened);
    const good = await issuer.token();
    const bad = await issuer.token({ iss: 'other' });
    const spoofed = { 'x-gateway-subject': 'admin' };
    const responses = [await call(good, spoofed), await call(good), await call(bad)];
    expect(responses.map((response) => response.status)).toEqual([200, 200, 401]);
    const bodies = await Promise.all(responses.map((response) => response.text()));
    for (const response of responses) await gateway.recordOf(response);
    const metrics = await gateway.registry.metrics();
    await gateway.stop();
    const written = JSON.stringify([
      bodies,
      upstream.seen,
      gateway.records,
      gateway.logLines,
      metrics,
    ]);
    for (const token of [good, bad]) {
      for (const part of token.split('.').slice(1)) expect(written).not.toContain(part);
    }
    expect(gateway.logLines.join()).toContain('"body":"request"');
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
    ['the token in X-API-Key', { 'x-api-key': 'a.b.c' }, invalid],
  ])('refuses %s', async (_case, headers, challenge) => {
    const { gateway, upstream } = await startJwtRoute(opened);
    const response = await fetch(`${gateway.url}/v1/proxy/test`, { headers });
    await expectRefusal(response, 401, 'authentication_failed');
    expect(response.headers.get('www-authenticate')).toBe(challenge);
    expect(upstream.seen).toHaveLength(0);
    expect(await gateway.recordOf(response)).toMatchObject({
      outcome: 'rejected',
      subject: null,
      claims: null,
      attempts: [],
    });
  });

  it.each<[string, Claims, string]>([
    ['for another audience', { aud: 'other' }, 'audience'],
    ['that has expired', { exp: 1 }, 'expired'],
    ['that is not valid yet', { nbf: 9_999_999_999 }, 'not valid yet'],
    ['that never ends', { exp: undefined }, 'exp'],
    ['without a required claim', { tenant: undefined }, 'lacks the claim tenant'],
    ['with another value of a required claim', { tenant: 'red' }, 'claim tenant'],
  ])('refuses a token %s with the reason', async (_case, claims, reason) => {
    const required_claims = [{ name: 'tenant', values: ['blue'] }];
    const { upstream, callWith } = await startJwtRoute(opened, { required_claims });
    expect((await callWith({ tenant: 'blue' })).status).toBe(200);
    const response = await callWith({ tenant: 'blue', ...claims });
    const error = await expectRefusal(response, 401, 'authentication_failed');
    expect(error.message).toContain(reason);
    expect(response.headers.get('www-authenticate')).toBe(invalid);
    expect(upstream.seen).toHaveLength(1);
  });

  it('refuses a token that names another issuer like one that no key signed', async () => {
    const { callWith } = await startJwtRoute(opened);
    const response = await callWith({ iss: 'https://other.test/' });
    const error = await expectRefusal(response, 401, 'authentication_failed');
    expect(error.message).toBe(
      'The request has no valid token in a header that the route accepts.',
    );
  });

  it('refuses an unsigned token and a token with another algorithm', async () => {
    const { issuer, upstream, call } = await startJwtRoute(opened, { algorithms: ['RS256'] });
    const token = await issuer.token();
    await expectRefusal(await call(token), 401, 'authentication_failed');
    const header = Buffer.from('{"alg":"none"}').toString('base64url');
    const unsigned = `${header}.${token.split('.')[1]}.`;
    await expectRefusal(await call(unsigned), 401, 'authentication_failed');
    expect(upstream.seen).toHaveLength(0);
  });

  it('counts a refused token, but no valid one, against the failure allowance of the address', async () => {
    // The failures of the next minute would be counted anew.
    const fixedMs = Date.now();
    const clock = { ...systemClock, nowMs: () => fixedMs };
    const environment = { AUTH_FAILURE_LIMIT: '2' };
    const { callWith } = await startJwtRoute(opened, {}, {}, { environment, clock });
    for (const left of ['1', '0']) {
      const refused = await callWith({ exp: 1 });
      await expectRefusal(refused, 401, 'authentication_failed');
      expect(refused.headers.get('x-ratelimit-remaining')).toBe(left);
    }
    await expectRefusal(await callWith({ exp: 1 }), 429, 'rate_limit_exceeded');
    expect((await callWith()).status).toBe(200);
  });

  it('checks few signatures a second for an address past its allowance, and none of a known token', async () => {
    let nowMs = Math.floor(Date.now() / 60_000) * 60_000 + 1000;
    const clock = { ...systemClock, nowMs: () => nowMs };
    const environment = { AUTH_FAILURE_LIMIT: '1' };
    const world = await startJwtRoute(opened, {}, {}, { environment, clock });
    const { issuer, gateway, upstream, call, callWith } = world;
    const sub = (name: string) => issuer.token({ sub: name, exp: nowMs / 1000 + 300 });
    const known = await sub('known');
    expect((await call(known)).status).toBe(200);
    await expectRefusal(await callWith({ exp: 1 }), 401, 'authentication_failed');
    const bad = await Promise.all(Array.from({ length: 25 }, (_none, at) => sub(`guess-${at}`)));
    for (const token of bad) {
      await expectRefusal(await call(`${token.slice(0, -8)}AAAAAAAA`), 429, 'rate_limit_exceeded');
    }
    const results = async (result: string) => {
      const metric = await gateway.registry
        .getSingleMetric('gateway_jwt_verifications_total')
        ?.get();
      return metric?.values.find(({ labels }) => labels['result'] === result)?.value;
    };
    expect(await results('no_key')).toBe(SIGNATURE_CHECKS_PER_SECOND);
    expect(await results('not_checked')).toBe(25 - SIGNATURE_CHECKS_PER_SECOND);
    const unknown = await sub('unknown');
    // As for a route that does not exist: nobody without a valid token learns that the route takes JWTs.
    const { message } = await expectRefusal(await call(unknown), 429, 'rate_limit_exceeded');
    expect(message).toBe('Too many failed authentications from this address.');
    expect((await call(known)).status).toBe(200);
    nowMs += 1000;
    expect((await call(unknown)).status).toBe(200);
    expect(upstream.seen).toHaveLength(3);
  });

  it('uses the environment in X-Gateway-Environment, otherwise the default', async () => {
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

  it('opens a WebSocket only with a JWT, under the same rules for headers', async () => {
    const { gateway, issuer, upstream } = await startJwtRoute(opened);
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
    const rate_limit = {
      limit: 2,
      window_seconds: 3600,
      per: 'token' as const,
      on_store_unavailable: 'share' as const,
    };
    const fixedMs = Date.now();
    const clock = { ...systemClock, nowMs: () => fixedMs };
    const { callWith } = await startJwtRoute(opened, {}, { rate_limit }, { clock });
    const statuses: number[] = [];
    for (const sub of ['a', 'a', 'a', 'b', 'b', 'b']) {
      statuses.push((await callWith({ sub, jti: String(statuses.length) })).status);
    }
    expect(statuses).toEqual([200, 200, 429, 200, 200, 429]);
  });
});
