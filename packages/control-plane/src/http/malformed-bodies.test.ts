import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../test/api.ts';

describe('an invalid body', () => {
  let api: TestApi;
  beforeAll(async () => void (api = await startTestApi()));
  afterAll(() => api.close());

  it('that is not UTF-8 is refused, because a parser would silently replace the invalid bytes', async () => {
    const body = Buffer.concat([
      Buffer.from('{"name":"x","url":"http://a.example","environment":"production","credential":'),
      Buffer.from('{"type":"basic","username":"u","password":"p'),
      Buffer.from([0xff, 0xc0, 0x80]),
      Buffer.from('"}}'),
    ]);
    const response = await fetch(`${api.url}/v1/services`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.adminToken}`, 'content-type': 'application/json' },
      body,
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('the body is not valid UTF-8');
  });

  it.each([
    ['utf8', 400],
    ['"UTF8"', 400],
    ['utf-8; x=y', 400],
    ['utf8x', 415],
    ['utf-16', 415],
    ['latin1', 415],
  ])('may name UTF-8 in any valid way as its charset, and no other: %s', async (name, status) => {
    const headers = { 'content-type': `application/json; charset=${name}` };
    const answer = await api.call('POST', '/v1/environments', { body: '{"name":"Ä"}', headers });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.json.error?.['details']).toMatchObject([{ path: 'name' }]);
  });

  it.each(['{"a":', '['])('of nearly 1 MiB of nested %s is refused', async (open) => {
    const times = Math.floor((900 * 1024) / (open.length + 1));
    const close = open === '[' ? ']' : '}';
    const deep = `${open.repeat(times)}1${close.repeat(times)}`;
    for (const [path, body] of [
      ['/v1/services', deep],
      ['/v1/services', `{"name":"x","upstreams":${deep}}`],
      ['/v1/routes', `{"name":"x","auth":{"type":"jwt","required_claims":${deep}}}`],
    ] as const) {
      expect((await api.call('POST', path, { body })).status).toBe(400);
    }
  });

  it('with characters that Postgres cannot store is refused, in any field', async () => {
    const service = { name: 'x', environment: 'production', url: 'http://a.example' };
    const jwt = { type: 'jwt', issuer: 'i', audience: 'a', jwks_url: 'http://a.example' };
    const route = { name: 'x', service_id: 'svc_x', auth: jwt };
    const credential = { type: 'basic', username: 'u', password: 'p' };
    const token = { name: 'x', environments: ['production'], scopes: ['proxy'], routes: ['x'] };
    // NUL, and a lone surrogate.
    for (const bad of ['\u0000', '\ud800']) {
      for (const [path, body] of [
        ['services', { ...service, name: `x${bad}` }],
        ['services', { ...service, environment: `x${bad}` }],
        ['services', { ...service, url: `http://a.example/${bad}` }],
        ['services', { ...service, url: undefined, upstreams: [{ url: `http://a/${bad}` }] }],
        ['services', { ...service, health_path: `/${bad}` }],
        ['services', { ...service, health_check: { path: `/${bad}` } }],
        ['services', { ...service, credential: { ...credential, username: bad } }],
        ['services', { ...service, credential: { ...credential, password: bad } }],
        ['routes', { ...route, name: `x${bad}` }],
        ['routes', { ...route, regions: [`x${bad}`] }],
        ['routes', { ...route, auth: { ...jwt, issuer: bad } }],
        ['routes', { ...route, auth: { ...jwt, audience: bad } }],
        ['routes', { ...route, auth: { ...jwt, jwks_url: `http://a.example/${bad}` } }],
        ['routes', { ...route, auth: { ...jwt, required_claims: [bad] } }],
        ['routes', { ...route, auth: { ...jwt, required_claims: { [bad]: 'x' } } }],
        ['routes', { ...route, auth: { ...jwt, required_claims: { x: bad } } }],
        ['tokens', { ...token, name: `x${bad}` }],
        ['tokens', { ...token, routes: [`x${bad}`] }],
        ['tokens', { ...token, environments: [`x${bad}`] }],
        ['environments', { name: `x${bad}` }],
      ] as const) {
        const answer = await api.call('POST', `/v1/${path}`, { body });
        expect({ body, status: answer.status }).toEqual({ body, status: 400 });
      }
    }
  });
});
