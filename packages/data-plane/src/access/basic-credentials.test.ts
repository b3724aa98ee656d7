import { describe, expect, it } from '@jest/globals';
import type { Snapshot, SnapshotAuth } from '@gateway/shared/snapshot/schema';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { testSnapshot, testToken } from '@gateway/shared/test/snapshot';
import { startTokenIssuer } from '@gateway/shared/test/token-issuer';
import { startUpstream } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../test/data-path.ts';
import { http2Call } from '../../test/http2-call.ts';
import { startSecureDataPath } from '../../test/secure-data-path.ts';

const opened = closeAfterEach();
const secret = createTokenSecret();
const otherSecret = createTokenSecret();
const encoded = (text: string) => Buffer.from(text).toString('base64');
const basic = (pair: string) => `Basic ${encoded(pair)}`;
const CHALLENGE = 'Basic realm="gateway"';

type Reach = Parameters<typeof testToken>[1];

/** A route of each type of authentication, named by it. */
async function snapshotOf(upstream: string, reach: Reach = {}): Promise<Snapshot> {
  const issuer = opened(await startTokenIssuer());
  const base = testSnapshot({ upstreams: [upstream] }, secret);
  const kinds: SnapshotAuth[] = [
    { type: 'token' },
    { type: 'api_key' },
    { type: 'none' },
    issuer.auth(),
  ];
  return {
    ...base,
    routes: base.routes.flatMap((route) =>
      kinds.map((auth) => ({ ...route, id: `rte_${auth.type}`, name: auth.type, auth })),
    ),
    tokens: [testToken(secret, reach), { ...testToken(otherSecret), id: 'tok_other' }],
  };
}

async function setUp(reach: Reach = {}) {
  const upstream = opened(await startUpstream());
  const snapshots = [await snapshotOf(upstream.url, reach)];
  const environment = { AUTH_FAILURE_LIMIT: '20' };
  const gateway = opened(await startTestDataPath({ upstreams: [] }, { snapshots, environment }));
  /** Sends no field of a browser, which `fetch` does. */
  const call = (route: string, fields: Readonly<Record<string, string>>) => {
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
    return rawCall(gateway.port, {
      target: `/v1/proxy/${route}`,
      lines: ['Host: gateway', ...lines],
    });
  };
  const sent = () => upstream.seen.map(({ rawHeaders }) => rawHeaders.join('\n'));
  return { upstream, gateway, call, sent };
}

function challengesOf({ rawHeaders }: { readonly rawHeaders: readonly string[] }): string[] {
  return rawHeaders.filter((_text, at) => rawHeaders[at - 1]?.toLowerCase() === 'www-authenticate');
}

describe('a token as the password of Authorization: Basic', () => {
  it.each(['git:@', ':@', '@:@', 'us er\xe9:@'])(
    'is accepted where a token is, and the upstream does not see it: %s',
    async (pair) => {
      const { call, gateway, sent } = await setUp();
      const authorization = basic(pair.replaceAll('@', secret));
      const response = await call('token', { authorization });
      expect(response.status).toBe(200);
      expect(await gateway.recordOf(response)).toMatchObject({ token_id: 'tok_test' });
      expect(sent().join()).not.toMatch(/authorization|gwt_/i);
    },
  );

  it('is accepted over HTTP/2', async () => {
    const upstream = opened(await startUpstream());
    const snapshots = [await snapshotOf(upstream.url)];
    const gateway = opened(await startSecureDataPath({ upstreams: [] }, { snapshots }));
    const session = gateway.connectHttp2();
    opened({ close: () => session.destroy() });
    const authorization = basic(`git:${secret}`);
    const answer = await http2Call(session, { ':path': '/v1/proxy/token', authorization });
    expect(answer.status).toBe(200);
    expect(upstream.seen[0]?.headers).not.toHaveProperty('authorization');
    const refused = await http2Call(session, { ':path': '/v1/proxy/token' });
    expect(refused.headers['www-authenticate']).toBe(`Bearer, ${CHALLENGE}`);
  });

  it.each(['api_key', 'jwt'])('is not accepted by a route of type %s', async (type) => {
    const { call, sent } = await setUp();
    const response = await call(type, { authorization: basic(`git:${secret}`) });
    await expectRefusal(response, 401, 'authentication_failed');
    expect(sent()).toEqual([]);
  });

  it.each<[string, string, Reach]>([
    ['an unknown token', `git:${createTokenSecret()}`, {}],
    ['another word', 'git:password', {}],
    ['an empty password', 'git:', {}],
    ['the token as user name', `${secret}:`, {}],
    ['the token as user name of a word', `${secret}:x-oauth-basic`, {}],
    ['no colon', secret, {}],
    ['another token as user name', `${otherSecret}:${secret}`, {}],
    ['more after the token', `git:${secret}:`, {}],
    ['an expired token', `git:${secret}`, { expires_at_ms: 1 }],
    ['a token that does not cover the route', `git:${secret}`, { routes: ['another'] }],
  ])('is refused if it is %s, and asks for another one', async (_case, pair, reach) => {
    const { call, gateway, sent } = await setUp(reach);
    const response = await call('token', { authorization: basic(pair) });
    const error = await expectRefusal(response, 401, 'authentication_failed');
    expect(error.message).not.toContain('gwt_');
    expect(challengesOf(response)).toEqual([expect.stringMatching(/^Bearer/), CHALLENGE]);
    expect(sent()).toEqual([]);
    expect(JSON.stringify(await gateway.recordOf(response))).not.toMatch(/gwt_|git/);
  });

  it('counts against the allowance of its address if it is wrong, and is accepted past it if it is right', async () => {
    const { call } = await setUp();
    const wrong = { authorization: basic('git:wrong') };
    for (let left = 19; left >= 0; left -= 1) {
      const refused = await call('token', wrong);
      expect(refused.headers.get('x-ratelimit-remaining')).toBe(String(left));
    }
    await expectRefusal(await call('token', wrong), 429, 'rate_limit_exceeded');
    expect((await call('token', { authorization: basic(`git:${secret}`) })).status).toBe(200);
  });

  it('stays the credential of the upstream if it is no token and the route takes none there', async () => {
    const { call, sent } = await setUp();
    const authorization = basic('user:pass');
    await call('none', { authorization });
    await call('api_key', { authorization, 'x-api-key': secret });
    expect(sent()).toHaveLength(2);
    for (const fields of sent()) expect(fields).toContain(authorization);
  });
});

describe('a token that an Authorization field holds in another way', () => {
  it.each<[string, string]>([
    ['without encoding', `Basic ${secret}`],
    ['after padding', `Basic ${encoded('user:')}=${encoded(secret)}`],
    ['after a space', `Basic ${encoded('user:')} ${encoded(secret)}`],
    ['in the second of two credentials', `${basic('a:b')}, ${basic(`a:${secret}`)}`],
    ['beside more', `Digest username="a", response="${secret}"`],
  ])('is not sent to the upstream: %s', async (_case, authorization) => {
    const { call, sent } = await setUp();
    expect((await call('none', { authorization })).status).toBe(200);
    expect(sent()).toHaveLength(1);
    expect(sent().join()).not.toMatch(/authorization/i);
  });

  it('is refused beside a different one in X-API-Key, because two systems could use different ones', async () => {
    const { call, sent } = await setUp();
    for (const authorization of [basic(`${otherSecret}:`), `Digest ${otherSecret}`]) {
      const two = { authorization, 'x-api-key': secret };
      await expectRefusal(await call('api_key', two), 401, 'authentication_failed');
    }
    expect(sent()).toEqual([]);
    const one = { authorization: basic(`${secret}:`), 'x-api-key': secret };
    expect((await call('api_key', one)).status).toBe(200);
    expect(sent().join()).not.toMatch(/authorization|gwt_/i);
  });
});

describe('the same token in Authorization and X-API-Key', () => {
  it.each(['token', 'api_key'])('is one, for a route of type %s', async (type) => {
    const { call, gateway, sent } = await setUp();
    for (const authorization of [`Bearer ${secret}`, basic(`git:${secret}`)]) {
      const response = await call(type, { authorization, 'x-api-key': secret });
      expect(response.status).toBe(200);
      expect(await gateway.recordOf(response)).toMatchObject({ token_id: 'tok_test' });
    }
    expect(sent().join()).not.toMatch(/authorization|api-key|gwt_/i);
  });

  it('is refused if the two differ, or if the route takes no token', async () => {
    const { call } = await setUp();
    for (const authorization of [`Bearer ${secret}`, basic(`git:${secret}`)]) {
      const two = { authorization, 'x-api-key': otherSecret };
      await expectRefusal(await call('token', two), 401, 'authentication_failed');
      await expectRefusal(await call('api_key', two), 401, 'authentication_failed');
      const one = { authorization, 'x-api-key': secret };
      await expectRefusal(await call('jwt', one), 401, 'authentication_failed');
    }
  });
});

describe('the Basic challenge of a 401', () => {
  it('stands beside Bearer, in a field of its own, if the caller sent no credential', async () => {
    const { call } = await setUp();
    expect(challengesOf(await call('token', {}))).toEqual(['Bearer', CHALLENGE]);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['sends Bearer', { authorization: 'Bearer wrong' }],
    ['sends another scheme', { authorization: 'Basically wrong' }],
    ['sends X-API-Key', { 'x-api-key': 'wrong' }],
    ['is a browser without a credential', { 'sec-fetch-mode': 'cors' }],
    [
      'is a browser with one of Basic',
      { 'sec-fetch-mode': 'navigate', authorization: basic('me:x') },
    ],
  ])('is left out if the caller %s', async (_case, fields) => {
    const { call } = await setUp();
    expect(challengesOf(await call('token', fields))).toEqual([expect.stringMatching(/^Bearer/)]);
  });
});
