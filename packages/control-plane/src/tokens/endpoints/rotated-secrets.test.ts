import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { expectError } from '../../../test/expect-error.ts';
import { consoleCall, cookieOf, signIn } from '../../../test/console.ts';
import { FULL, tokenCalls } from '../../../test/tokens.ts';

describe('a secret that was rotated away, within its grace period', () => {
  let api: TestApi;
  let names = 0;

  beforeAll(async () => {
    api = await startTestApi();
  });

  afterAll(async () => {
    await api.close();
  });

  const { make, works } = tokenCalls(() => api);

  async function rotated() {
    const made = await make({ name: `rotated-${(names += 1)}`, ...FULL });
    const body = { grace_seconds: 3600 };
    const key = { 'idempotency-key': `rotation-${names}` };
    const cookie = cookieOf(await signIn(api, made.secret));
    const path = `${made.path}/rotate`;
    // With its own secret, as its owner does.
    const answer = await api.call('POST', path, { token: made.secret, body, headers: key });
    return { ...made, key, body, cookie, present: answer.json.data?.secret ?? '' };
  }

  it.each([
    ['revoke', 'DELETE', '', undefined],
    ['rename', 'PATCH', '', { name: 'taken over' }],
    ['shorten the expiry of', 'PATCH', '', { expires_at: '2999-01-01T00:00:00Z' }],
    ['rotate', 'POST', '/rotate', { grace_seconds: 0 }],
  ])('may use, but cannot %s its token', async (_what, method, suffix, body) => {
    const { path, secret, present, cookie } = await rotated();
    expect(await works(secret)).toBe(true);
    const options = body === undefined ? {} : { body };
    const answer = await api.call(method, path + suffix, { token: secret, ...options });
    expect(answer.status).toBe(401);
    // A session was made with it.
    const session = await consoleCall(api, cookie, method, path + suffix, options);
    expect(session.status).toBe(401);
    expect(await works(present)).toBe(true);
    const owner = await api.call(method, path + suffix, { token: present, ...options });
    expect(owner.status).toBeLessThan(300);
  });

  it('gets no new secret by the idempotency key of the rotation', async () => {
    const { path, secret, key, body, present } = await rotated();
    const again = { body, headers: key };
    const answer = await api.call('POST', `${path}/rotate`, { token: secret, ...again });
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain('gwt_');
    // It is still there for the owner.
    const owner = await api.call('POST', `${path}/rotate`, { token: present, ...again });
    expect(owner.json.data?.secret).toBe(present);
  });

  it.each([['that lives as long'], ['that lives shorter']])(
    'gets no secret of a token %s by the key of its creation',
    async (kind) => {
      const made = await make({ name: `maker-${(names += 1)}`, ...FULL });
      const expires_at = new Date(api.clock.nowMs() + 30_000).toISOString();
      const expiry = kind === 'that lives shorter' ? { expires_at } : {};
      const body = { name: `child-${names}`, ...FULL, scopes: ['proxy'], ...expiry };
      const call = { body, headers: { 'idempotency-key': `creation-${names}` } };
      const child = await api.call('POST', '/v1/tokens', { token: made.secret, ...call });
      const rotation = await api.call('POST', `${made.path}/rotate`, {
        body: { grace_seconds: 60 },
      });
      const present = rotation.json.data?.secret ?? '';
      const replay = await api.call('POST', '/v1/tokens', { token: made.secret, ...call });
      expect(replay.status).toBe(401);
      const owner = await api.call('POST', '/v1/tokens', { token: present, ...call });
      expect(owner.json.data?.secret).toBe(child.json.data?.secret);
    },
  );

  it('creates no token that could change its own, and changes no other', async () => {
    const { secret, cookie } = await rotated();
    const other = await make({ name: `other-${(names += 1)}`, ...FULL, scopes: ['proxy'] });
    const child = { ...FULL, name: `child-${names}` };
    const calls = [
      ['POST', '/v1/tokens', child],
      ['DELETE', other.path, undefined],
      ['PATCH', other.path, { name: 'taken over' }],
      ['POST', `${other.path}/rotate`, {}],
    ] as const;
    for (const [method, path, body] of calls) {
      const options = body === undefined ? {} : { body };
      const answer = await api.call(method, path, { token: secret, ...options });
      expectError(answer, 401, 'authentication_failed');
      expect((await consoleCall(api, cookie, method, path, options)).status).toBe(401);
    }
    expect((await api.call('GET', other.path, { token: secret })).status).toBe(200);
  });
});
