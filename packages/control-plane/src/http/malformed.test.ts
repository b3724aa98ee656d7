import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../test/api.ts';
import { expectError, STANDARD_HEADERS } from '../../test/expect-error.ts';

const COMPRESS = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

describe('an invalid request', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });

  afterAll(async () => {
    await api.close();
  });

  it.each([
    '/',
    '/v1',
    '/v2/services',
    '/v1/nope',
    '/console',
    '/v1/services/a/b',
    '/V1/services',
    '/v1/services/',
    '/v1/services/svc_x/',
    '/v1/openapi.json/',
    '//v1/services',
  ])('to the unknown path %s gets not_found, with and without a token', async (path) => {
    expectError(await api.call('GET', path), 404, 'not_found');
    expectError(await api.call('GET', path, { token: null }), 404, 'not_found');
  });

  it.each([
    ['PUT', '/v1/services', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/services', 'GET, HEAD, POST'],
    ['POST', '/v1/services/svc_x', 'GET, HEAD, PUT, PATCH, DELETE'],
    ['GET', '/v1/tokens/tok_x/rotate', 'POST'],
    ['POST', '/v1/openapi.json', 'GET, HEAD'],
    ['POST', '/v1/requests/req_x', 'GET, HEAD'],
  ])('%s %s gets method_not_allowed with Allow', async (method, path, allow) => {
    const answer = await api.call(method, path);
    expectError(answer, 405, 'method_not_allowed');
    expect(answer.headers.get('allow')).toBe(allow);
  });

  it.each(['{', '{"name":}', 'nonsense', '"text"', '7', 'null', '\u0000'])(
    'with the body %j, which is not a JSON object, gets invalid_request',
    async (body) => {
      const answer = await api.call('POST', '/v1/services', { body });
      expectError(answer, 400, 'invalid_request');
      expect(answer.json.error?.['details']).toEqual([
        { path: '', message: 'the body is not a valid JSON object' },
      ]);
      expect(answer.text).not.toContain('position');
    },
  );

  it.each(['[]', '[{"name":"x"}]'])(
    'with the list %s as its body gets a message about the body alone',
    async (body) => {
      for (const path of ['/v1/services', '/v1/routes', '/v1/tokens']) {
        const answer = await api.call('POST', path, { body });
        expectError(answer, 400, 'invalid_request');
        expect(answer.json.error?.['details']).toEqual([
          { path: '', message: 'the body must be a JSON object' },
        ]);
      }
    },
  );

  it('without a body gets invalid_request', async () => {
    expectError(await api.call('POST', '/v1/services'), 400, 'invalid_request');
  });

  it('with unknown fields gets the path of each, at any depth', async () => {
    const body = {
      name: 'x',
      environment: 'production',
      url: 'http://a.example',
      colour: 1,
      health_check: { speed: 2 },
    };
    const answer = await api.call('POST', '/v1/services', { body });
    expectError(answer, 400, 'invalid_request');
    expect(answer.json.error?.['details']).toEqual([
      { path: 'health_check.speed', message: 'is not a known field' },
      { path: 'colour', message: 'is not a known field' },
    ]);
  });

  it('with misspelt fields gets the fields that are similar, of the object that has them', async () => {
    const body = {
      name: 'x',
      environment: 'production',
      upstreams: [{ url: 'http://a.example', regoin: 'eu' }],
      health_chek: {},
      health_check: { intervall_ms: 2000, name: 'x' },
      ...Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`urls${at}`, 1])),
    };
    const answer = await api.call('POST', '/v1/services', { body });
    expectError(answer, 400, 'invalid_request');
    const details = answer.json.error?.['details'] as { path: string; message: string }[];
    const known = 'is not a known field';
    expect(details.slice(0, 4)).toEqual([
      { path: 'health_check.intervall_ms', message: `${known}; did you mean interval_ms?` },
      { path: 'health_check.name', message: known },
      { path: 'upstreams.0.regoin', message: `${known}; did you mean region?` },
      { path: 'health_chek', message: `${known}; did you mean health_check?` },
    ]);
    expect(details).toHaveLength(50);
  });

  it('with an unknown parameter gets the similar one', async () => {
    const answer = await api.call('GET', '/v1/services?serach=pay');
    expect(answer.json.error?.['details']).toEqual([
      { path: 'serach', message: 'is not a known field; did you mean search?' },
    ]);
  });

  it('with a field __proto__ gets invalid_request and changes no prototype', async () => {
    const body = '{"name":"x","service_id":"svc_x","__proto__":{"timeout_ms":1}}';
    expectError(await api.call('POST', '/v1/routes', { body }), 400, 'invalid_request');
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', ''])(
    'with a body of the type %j gets unsupported_media_type',
    async (type) => {
      const headers = { 'content-type': type };
      const answer = await api.call('POST', '/v1/services', { body: '{}', headers });
      expectError(answer, 415, 'unsupported_media_type');
    },
  );

  it('in an unknown encoding gets unsupported_media_type', async () => {
    for (const headers of [
      { 'content-encoding': 'zebra' },
      { 'content-type': 'application/json; charset=latin-9' },
      { 'content-type': 'application/json; charset=utf-7' },
      { 'content-type': 'application/json; charset=utf-16' },
    ]) {
      const answer = await api.call('POST', '/v1/services', { body: '{}', headers });
      expectError(answer, 415, 'unsupported_media_type');
    }
  });

  it.each([
    ...(['gzip', 'deflate', 'br', 'zstd'] as const).flatMap((coding) => [
      [coding, 'other data', Buffer.from('\u0000\u0001{}')] as const,
      [
        coding,
        'truncated data',
        COMPRESS[coding](Buffer.from('{"name":"x"}')).subarray(0, -6),
      ] as const,
    ]),
  ])('whose body should be %s but is %s gets invalid_request', async (coding, _, body) => {
    const response = await fetch(`${api.url}/v1/services`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${api.adminToken}`,
        'content-type': 'application/json',
        'content-encoding': coding,
      },
      body,
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('the body is not encoded as its Content-Encoding says');
  });

  it('with a body above 1 MiB gets payload_too_large', async () => {
    const body = { name: 'x'.repeat(1024 * 1024) };
    expectError(await api.call('POST', '/v1/services', { body }), 413, 'payload_too_large');
    const fits = { name: 'x'.repeat(1024 * 1024 - 100) };
    expectError(await api.call('POST', '/v1/services', { body: fits }), 400, 'invalid_request');
  });

  it('with a large body and no token gets a complete 401', async () => {
    const body = 'x'.repeat(8 * 1024 * 1024);
    const answer = await api.call('POST', '/v1/services', { body, token: null });
    expectError(answer, 401, 'authentication_failed');
  });

  it('with an invalid percent-encoding in its path gets invalid_request', async () => {
    expectError(await api.call('GET', '/v1/services/%zz'), 400, 'invalid_request');
  });

  it('gets the standard headers, and so do 200, 201, 204 and HEAD', async () => {
    const body = { name: 'ok', environment: 'production', url: 'http://a.example' };
    const made = await api.call('POST', '/v1/services', { body });
    const path = made.headers.get('location') ?? '';
    const answers = [made, await api.call('GET', path), await api.call('DELETE', path)];
    expect(answers.map((answer) => answer.status)).toEqual([201, 200, 204]);
    const response = await fetch(`${api.url}/v1/services`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${api.adminToken}` },
    });
    expect({ status: response.status, body: await response.text() }).toEqual({
      status: 200,
      body: '',
    });
    for (const { headers } of [...answers, response]) {
      for (const name of STANDARD_HEADERS) expect(headers.get(name)).not.toBeNull();
      expect(headers.get('x-gateway-error')).toBeNull();
    }
  });
});
