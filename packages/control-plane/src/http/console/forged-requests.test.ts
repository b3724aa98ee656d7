import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestApi, type Answer, type CallOptions, type TestApi } from '../../../test/api.ts';
import { cookieOf, CSRF, signIn } from '../../../test/console.ts';

const SERVICE = { name: 'pay', environment: 'production', url: 'http://pay.example' };
const ELSEWHERE = 'https://elsewhere.example';

function codeOf({ status, json }: Answer): unknown[] {
  return [status, json.error?.['code']];
}

describe('a change with the cookie of the console', () => {
  let api: TestApi;
  let cookie: string;
  beforeAll(async () => {
    api = await startTestApi();
    cookie = cookieOf(await signIn(api));
  });
  afterAll(async () => {
    await api.close();
  });

  const create = (name: string, headers: Readonly<Record<string, string>>) => {
    const options: CallOptions = {
      token: null,
      body: { ...SERVICE, name },
      headers: { cookie, ...headers },
    };
    return api.call('POST', '/console/api/v1/services', options);
  };

  it('is accepted from the pages of the console', async () => {
    expect((await create('a', CSRF)).status).toBe(201);
    expect((await create('b', { ...CSRF, 'sec-fetch-site': 'same-origin' })).status).toBe(201);
    expect((await create('c', { ...CSRF, origin: api.url })).status).toBe(201);
  });

  it.each([
    ['without the header that only a script of the console can send', {}],
    ['from another site', { ...CSRF, 'sec-fetch-site': 'cross-site' }],
    ['from another host of the same site', { ...CSRF, 'sec-fetch-site': 'same-site' }],
    ['from another origin, by an old browser', { ...CSRF, origin: ELSEWHERE }],
    ['from a page without an origin', { ...CSRF, origin: 'null' }],
    [
      'from a host that only an untrusted proxy names',
      { ...CSRF, origin: ELSEWHERE, 'x-forwarded-host': 'elsewhere.example' },
    ],
  ])('is refused %s', async (_case, headers) => {
    expect(codeOf(await create('forged', headers))).toEqual([401, 'authentication_failed']);
    const listed = await api.call('GET', '/v1/services?environment=production&name=forged');
    expect(listed.json.data).toEqual([]);
  });

  it('is refused for each method that changes something', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const path = '/console/api/v1/services/svc_x';
      const answer = await api.call(method, path, { token: null, headers: { cookie } });
      expect([method, answer.status]).toEqual([method, 401]);
    }
  });

  it('is refused for the end of a session', async () => {
    const answer = await api.call('DELETE', '/console/session', {
      token: null,
      headers: { cookie },
    });
    expect(codeOf(answer)).toEqual([401, 'authentication_failed']);
    const headers = { cookie };
    const after = await api.call('GET', '/console/api/v1/whoami', { token: null, headers });
    expect(after.status).toBe(200);
  });

  it('needs no header for a read', async () => {
    const headers = { cookie };
    const answer = await api.call('GET', '/console/api/v1/services', { token: null, headers });
    expect(answer.status).toBe(200);
  });

  it('is not needed with a token, whatever the origin', async () => {
    const answer = await api.call('POST', '/console/api/v1/services', {
      body: { ...SERVICE, name: 'with-token' },
      headers: { origin: ELSEWHERE },
    });
    expect(answer.status).toBe(201);
  });
});

describe('a sign-in', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi({ authFailureLimit: 3, trustedProxies: ['127.0.0.1'] });
  });
  afterAll(async () => {
    await api.close();
  });

  it('is refused from a page of another origin', async () => {
    for (const headers of [{ origin: ELSEWHERE }, { 'sec-fetch-site': 'cross-site' }]) {
      const answer = await signIn(api, api.adminToken, headers);
      expect(codeOf(answer)).toEqual([401, 'authentication_failed']);
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
  });

  it('is accepted under the host that a trusted proxy names', async () => {
    const host = 'console.example';
    const headers = { origin: `https://${host}`, 'x-forwarded-host': host };
    expect((await signIn(api, api.adminToken, headers)).status).toBe(200);
  });

  it('cannot be sent by a form', async () => {
    const headers = { 'content-type': 'text/plain' };
    const body = JSON.stringify({ token: api.adminToken });
    const answer = await api.call('POST', '/console/session', { token: null, body, headers });
    expect(codeOf(answer)).toEqual([415, 'unsupported_media_type']);
  });

  it.each([[{}], [{ token: 1 }], [{ token: 'x', more: 1 }], ['{'], [[]]])(
    'names the field of an invalid body %j',
    async (body) => {
      const answer = await api.call('POST', '/console/session', { token: null, body });
      expect(codeOf(answer)).toEqual([400, 'invalid_request']);
    },
  );

  it('that fails counts as a failed authentication, and never stops a valid one', async () => {
    const token = createTokenSecret();
    for (let left = 2; left >= 0; left -= 1) {
      const answer = await signIn(api, token);
      expect(codeOf(answer)).toEqual([401, 'authentication_failed']);
      expect(answer.text).not.toContain(token);
      expect(answer.headers.get('x-ratelimit-remaining')).toBe(String(left));
    }
    const answer = await signIn(api, 'gwt_short');
    expect(codeOf(answer)).toEqual([429, 'rate_limit_exceeded']);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await signIn(api)).status).toBe(200);
  });
});
