import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type Answer, type TestApi } from '../../test/api.ts';

const EXPECTED = {
  'content-security-policy':
    "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const ORIGIN = { origin: 'https://elsewhere.example' };
const PREFLIGHT = {
  ...ORIGIN,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type',
};

describe('a response of the management API to a browser', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(async () => {
    await api.close();
  });

  const answers: readonly (readonly [string, () => Promise<Answer>])[] = [
    ['a call for a list', () => api.call('GET', '/v1/services', { headers: ORIGIN })],
    [
      'a call without a token',
      () => api.call('GET', '/v1/services', { headers: ORIGIN, token: null }),
    ],
    ['an unknown path', () => api.call('GET', '/nowhere', { headers: ORIGIN })],
    ['an invalid body', () => api.call('POST', '/v1/services', { body: '{', headers: ORIGIN })],
    ['an invalid path', () => api.call('GET', '/v1/services/%zz', { headers: ORIGIN })],
    [
      'a call for the OpenAPI document',
      () => api.call('GET', '/v1/openapi.json', { headers: ORIGIN }),
    ],
    ['a preflight', () => api.call('OPTIONS', '/v1/services', { headers: PREFLIGHT, token: null })],
    [
      'a preflight to an unknown path',
      () => api.call('OPTIONS', '/x', { headers: PREFLIGHT, token: null }),
    ],
  ];

  it.each(answers)('to %s may not be run, framed or sniffed', async (_case, ask) => {
    const { headers } = await ask();
    const found = Object.keys(EXPECTED).map((name) => [name, headers.get(name)]);
    expect(Object.fromEntries(found)).toEqual(EXPECTED);
    expect(headers.get('x-powered-by')).toBeNull();
  });

  it.each(answers)('to %s has no CORS header, so no other site can read it', async (_case, ask) => {
    const { headers } = await ask();
    const names = [...headers.keys()].filter((name) => name.startsWith('access-control-'));
    expect(names).toEqual([]);
  });

  it('to a preflight is 405, so no other site can send the request', async () => {
    const answer = await api.call('OPTIONS', '/v1/services', { headers: PREFLIGHT, token: null });
    expect(answer.status).toBe(405);
  });
});
