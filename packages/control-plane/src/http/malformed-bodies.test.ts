import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exampleId } from '@gateway/shared/definitions/fields';
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

  it.each([
    ['POST', '/v1/routes', '{"name":"a","service_id":"s","name":"b"}', 29],
    ['POST', '/v1/services', '{"name":"a","limits":{"adaptive":true , "adaptive" : false}}', 40],
    [
      'PUT',
      '/v1/routes/a?environment=production',
      '{"status":"active","st\\u0061tus":"disabled"}',
      19,
    ],
    ['PATCH', `/v1/routes/${exampleId('rte')}`, '{"name":"\\"","name":"}"}', 13],
    ['POST', '/v1/environments/production/apply', '{"dry_run":true,"dry_run":false}', 16],
    ['POST', '/v1/environments/production/rollback', '{"version":1,"version":2}', 13],
    ['POST', '/v1/environments/production/apply', '{"routes":[{"name":"a"},{"ü":1,"ü":2}]}', 32],
  ])('with two values for one name is refused: %s %s %s', async (method, path, body, offset) => {
    const { status, json } = await api.call(method, path, { body });
    expect({ status, details: json.error?.['details'] }).toEqual({
      status: 400,
      details: [
        {
          path: '',
          message: `an object has two fields of one name, the second at byte ${offset} of the body`,
        },
      ],
    });
  });

  it.each([
    '{"name":"a","limits":{"name":"a"},"upstreams":[{"url":"x"},{"url":"x"}]}',
    '{"name":"name","url":"name\\":","health_path":"{\\"name\\":"}',
  ])('with one value for each name is not refused for its names: %s', async (body) => {
    const { json } = await api.call('POST', '/v1/services', { body });
    expect(JSON.stringify(json)).not.toContain('two fields');
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
