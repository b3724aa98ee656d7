import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { sql } from 'kysely';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';
import { consoleCall, cookieOf, CSRF, signIn } from '../../../test/console.ts';
import { deleteEndedSessions } from '../../access/store/sessions.ts';
import { hashSessionId } from '../../access/session-cookie.ts';
import { SESSION_IDLE_MS, SESSION_MAX_MS, sessionBounds } from '../../access/session-life.ts';

const HOUR_MS = 60 * 60 * 1000;
const reach = { environments: ['production'], scopes: ['services:read'] };

function codeOf({ status, json }: Answer): unknown[] {
  return [status, json.error?.['code']];
}

describe('a session of the console', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi({ trustedProxies: ['127.0.0.1'] });
  });
  afterAll(async () => {
    await api.close();
  });

  const whoami = (cookie: string) => consoleCall(api, cookie, 'GET', '/v1/whoami');
  const refused = [401, 'authentication_failed'];

  async function storedSessions(): Promise<number> {
    const { rows } = await sql<{ n: number }>`
      SELECT count(*)::int AS n FROM console_sessions
    `.execute(api.db);
    return rows[0]?.n ?? 0;
  }

  it('is exchanged for a token, whose reach and scopes it has', async () => {
    const token = await api.makeToken({ name: 'reader', ...reach });
    const answer = await signIn(api, token);
    expect(answer.status).toBe(200);
    expect(answer.json.data).toMatchObject({ name: 'reader', scopes: ['services:read'] });
    const cookie = cookieOf(answer);
    expect((await whoami(cookie)).json.data).toMatchObject({ name: 'reader' });
    expect((await consoleCall(api, cookie, 'GET', '/v1/services')).status).toBe(200);
    const routes = await consoleCall(api, cookie, 'GET', '/v1/routes');
    expect(routes.headers.get('www-authenticate')).toContain('insufficient_scope');
  });

  it('is a cookie for the console only, that scripts and other sites cannot use', async () => {
    const field = (await signIn(api)).headers.get('set-cookie') ?? '';
    expect(field).toMatch(
      /^gateway_console=gws_[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict$/,
    );
  });

  it('is a cookie for TLS only if the browser uses TLS', async () => {
    const headers = { 'x-forwarded-proto': 'https' };
    const answer = await signIn(api, api.adminToken, headers);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Secure-gateway_console=gws_[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict; Secure$/,
    );
    const cookie = cookieOf(answer);
    const secure = await consoleCall(api, cookie, 'GET', '/v1/whoami', { headers });
    expect(secure.status).toBe(200);
    expect(codeOf(await whoami(cookie))).toEqual(refused);
  });

  it('is stored only as a hash, and neither the token nor the id is in a response body', async () => {
    const answer = await signIn(api);
    const [, id = ''] = cookieOf(answer).split('=');
    expect(answer.text).not.toContain(id);
    expect(answer.text).not.toContain('gwt_');
    const { rows } = await sql<{ row: string }>`
      SELECT row_to_json(s)::text AS row FROM console_sessions s
      WHERE id_sha256 = ${hashSessionId(id)}
    `.execute(api.db);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toMatch(/gw[st]_/);
  });

  it('counts only below /console/api', async () => {
    const cookie = cookieOf(await signIn(api));
    const direct = await api.call('GET', '/v1/whoami', { token: null, headers: { cookie } });
    expect(codeOf(direct)).toEqual(refused);
  });

  it('does not count beside a token', async () => {
    const cookie = cookieOf(await signIn(api));
    const token = await api.makeToken({ name: 'beside', ...reach });
    const both = await consoleCall(api, cookie, 'GET', '/v1/whoami', { token });
    expect(both.json.data).toMatchObject({ name: 'beside' });
    const wrong = await consoleCall(api, cookie, 'GET', '/v1/whoami', {
      token: createTokenSecret(),
    });
    expect(codeOf(wrong)).toEqual(refused);
  });

  it('ends at once when its token is revoked', async () => {
    const made = await api.call('POST', '/v1/tokens', { body: { name: 'doomed', ...reach } });
    const cookie = cookieOf(await signIn(api, made.json.data?.secret));
    expect((await whoami(cookie)).status).toBe(200);
    await api.call('DELETE', `/v1/tokens/${made.json.data?.id ?? ''}`);
    expect(codeOf(await whoami(cookie))).toEqual(refused);
  });

  it('ends when its token expires', async () => {
    const expires_at = new Date(api.clock.nowMs() + HOUR_MS).toISOString();
    const token = await api.makeToken({ name: 'brief', ...reach, expires_at });
    const cookie = cookieOf(await signIn(api, token));
    api.clock.advance(HOUR_MS - 1);
    expect((await whoami(cookie)).status).toBe(200);
    api.clock.advance(1);
    expect(codeOf(await whoami(cookie))).toEqual(refused);
  });

  it('ends with the grace period when the secret that it was exchanged for is rotated', async () => {
    const made = await api.call('POST', '/v1/tokens', { body: { name: 'turned', ...reach } });
    const cookie = cookieOf(await signIn(api, made.json.data?.secret));
    const path = `/v1/tokens/${made.json.data?.id ?? ''}/rotate`;
    await api.call('POST', path, { body: { grace_seconds: 60 } });
    const graceEnd = new Date(api.clock.nowMs() + 60_000).toISOString();
    expect((await whoami(cookie)).json.data?.['secret_expires_at']).toBe(graceEnd);
    api.clock.advance(60_001);
    expect(codeOf(await whoami(cookie))).toEqual(refused);
  });

  it('ends after 12 hours without use, and each use counts', async () => {
    const cookie = cookieOf(await signIn(api));
    api.clock.advance(SESSION_IDLE_MS - 1);
    expect((await whoami(cookie)).status).toBe(200);
    api.clock.advance(SESSION_IDLE_MS - 1);
    expect((await whoami(cookie)).status).toBe(200);
    api.clock.advance(SESSION_IDLE_MS);
    expect(codeOf(await whoami(cookie))).toEqual(refused);
  });

  it('ends after 7 days, however much it is used', async () => {
    const cookie = cookieOf(await signIn(api));
    const until = api.clock.nowMs() + SESSION_MAX_MS;
    while (api.clock.nowMs() + 11 * HOUR_MS < until) {
      api.clock.advance(11 * HOUR_MS);
      expect((await whoami(cookie)).status).toBe(200);
    }
    api.clock.advance(until - api.clock.nowMs());
    expect(codeOf(await whoami(cookie))).toEqual(refused);
  });

  it('is written at most once a minute', async () => {
    const cookie = cookieOf(await signIn(api));
    const idSha256 = hashSessionId(cookie.split('=')[1] ?? '');
    const signedInMs = api.clock.nowMs();
    const lastUsedMs = async () => {
      const { rows } = await sql<{ at: Date }>`
        SELECT last_used_at AS at FROM console_sessions WHERE id_sha256 = ${idSha256}
      `.execute(api.db);
      return Number(rows[0]?.at);
    };
    api.clock.advance(59_999);
    await whoami(cookie);
    expect(await lastUsedMs()).toBe(signedInMs);
    api.clock.advance(1);
    await whoami(cookie);
    expect(await lastUsedMs()).toBe(signedInMs + 60_000);
  });

  it('gets a new id at each sign-in, and the former one ends', async () => {
    const first = cookieOf(await signIn(api));
    const second = cookieOf(await signIn(api, api.adminToken, { cookie: first }));
    expect(second).not.toBe(first);
    expect(codeOf(await whoami(first))).toEqual(refused);
    expect((await whoami(second)).status).toBe(200);
  });

  it('never takes an id that the browser brings', async () => {
    const planted = `gateway_console=gws_${'A'.repeat(43)}`;
    const answer = await signIn(api, api.adminToken, { cookie: planted });
    expect(cookieOf(answer)).not.toBe(planted);
    expect(codeOf(await whoami(planted))).toEqual(refused);
  });

  it('ends when the reader signs out, also in the browser', async () => {
    const cookie = cookieOf(await signIn(api));
    const headers = { cookie, 'x-console-request': '1' };
    const answer = await api.call('DELETE', '/console/session', { token: null, headers });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('set-cookie')).toBe(
      'gateway_console=; Path=/console; HttpOnly; SameSite=Strict; Max-Age=0',
    );
    expect(codeOf(await whoami(cookie))).toEqual(refused);
  });

  it('counts beside cookies of sessions that have ended', async () => {
    const mine = cookieOf(await signIn(api));
    const ended = Array.from(
      { length: 5 },
      (_, at) => `gateway_console=gws_${String(at).repeat(43)}`,
    );
    for (const cookie of [`${mine}; ${ended[0]}`, `${ended.slice(0, 4).join('; ')}; ${mine}`]) {
      expect((await consoleCall(api, cookie, 'GET', '/v1/whoami')).status).toBe(200);
    }
    const many = [...ended, mine].join('; ');
    expect((await consoleCall(api, many, 'GET', '/v1/whoami')).status).toBe(401);
  });

  it('does not count beside that of another session, and both end with a sign-out', async () => {
    const [mine, other] = [cookieOf(await signIn(api)), cookieOf(await signIn(api))];
    const calls = (cookie: string) => consoleCall(api, cookie, 'GET', '/v1/whoami');
    expect((await calls(`${mine}; ${mine}`)).status).toBe(200);
    for (const both of [`${mine}; ${other}`, `${other}; ${mine}`]) {
      const answer = await calls(both);
      expect(answer.status).toBe(401);
      expect(answer.text).toContain('several sessions');
    }
    expect([(await calls(mine)).status, (await calls(other)).status]).toEqual([200, 200]);
    const headers = { cookie: `${mine}; ${other}`, ...CSRF };
    await api.call('DELETE', '/console/session', { token: null, headers });
    expect([(await calls(mine)).status, (await calls(other)).status]).toEqual([401, 401]);
  });

  it('is one of at most 100 of a token', async () => {
    const token = await api.makeToken({ name: 'many', ...reach });
    const oldest = cookieOf(await signIn(api, token));
    for (let made = 0; made < 100; made += 1) {
      api.clock.advance(1);
      await signIn(api, token);
    }
    expect(codeOf(await whoami(oldest))).toEqual(refused);
  });

  it('is deleted after its end', async () => {
    const bounds = () => sessionBounds(api.clock.nowMs());
    api.clock.advance(SESSION_MAX_MS);
    const clean = () => deleteEndedSessions(api.db, bounds(), new Date(api.clock.nowMs()));
    await clean();
    expect(await storedSessions()).toBe(0);
    const revoked = await api.call('POST', '/v1/tokens', { body: { name: 'left', ...reach } });
    await signIn(api, revoked.json.data?.secret);
    await api.call('DELETE', `/v1/tokens/${revoked.json.data?.id ?? ''}`);
    const rotated = await api.call('POST', '/v1/tokens', { body: { name: 'twice', ...reach } });
    await signIn(api, rotated.json.data?.secret);
    const path = `/v1/tokens/${rotated.json.data?.id ?? ''}/rotate`;
    await api.call('POST', path, { body: { grace_seconds: 60 } });
    const kept = cookieOf(await signIn(api));
    expect(await clean()).toBe(1);
    api.clock.advance(60_001);
    expect(await clean()).toBe(1);
    expect(await storedSessions()).toBe(1);
    expect((await whoami(kept)).status).toBe(200);
  });
});
