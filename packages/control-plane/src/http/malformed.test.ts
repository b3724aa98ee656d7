import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type Answer, type TestApi } from '../../test/api.ts';

const STANDARD = [
  'x-request-id',
  'x-gateway-latency',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];

const COMPRESS = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

/** The headers of every response, and for errors the envelope with the code in both places. */
function expectError(answer: Answer, status: number, code: string): void {
  const { headers, json } = answer;
  expect({ status: answer.status, code: json.error?.['code'] }).toEqual({ status, code });
  expect(headers.get('x-gateway-error')).toBe(code);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(json.error?.['request_id']).toBe(headers.get('x-request-id'));
  for (const name of STANDARD)
    expect({ name, value: headers.get(name) }).not.toMatchObject({ value: null });
}

describe('a request that is not in order', () => {
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
  ])('at the unknown path %s is answered not_found, with and without a token', async (path) => {
    expectError(await api.call('GET', path), 404, 'not_found');
    expectError(await api.call('GET', path, { token: null }), 404, 'not_found');
  });

  it.each([
    ['PUT', '/v1/services', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/services', 'GET, HEAD, POST'],
    ['POST', '/v1/services/svc_x', 'GET, HEAD, PATCH, DELETE'],
    ['GET', '/v1/tokens/tok_x/rotate', 'POST'],
    ['POST', '/v1/openapi.json', 'GET, HEAD'],
    ['POST', '/v1/requests/req_x', 'GET, HEAD'],
  ])('by %s at %s is answered method_not_allowed with Allow', async (method, path, allow) => {
    const answer = await api.call(method, path);
    expectError(answer, 405, 'method_not_allowed');
    expect(answer.headers.get('allow')).toBe(allow);
  });

  it.each(['{', '{"name":}', 'nonsense', '"text"', '7', 'null', '\u0000'])(
    'with the body %j, which is no JSON object, is answered invalid_request',
    async (body) => {
      const answer = await api.call('POST', '/v1/services', { body });
      expectError(answer, 400, 'invalid_request');
      expect(answer.json.error?.['details']).toEqual([
        { path: '', message: 'the body is not a valid JSON object' },
      ]);
      expect(answer.text).not.toContain('position');
    },
  );

  it.each(['[]', '[{"name":"x"}]'])('with the list %s for a body names the body', async (body) => {
    const answer = await api.call('POST', '/v1/services', { body });
    expectError(answer, 400, 'invalid_request');
    expect(answer.json.error?.['details']).toEqual([
      { path: '', message: 'the body must be a JSON object' },
    ]);
  });

  it('without a body is answered invalid_request', async () => {
    expectError(await api.call('POST', '/v1/services'), 400, 'invalid_request');
  });

  it('with unknown fields, at any depth, names each', async () => {
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

  it('with a field __proto__ changes nothing but its own answer', async () => {
    const body = '{"name":"x","service_id":"svc_x","__proto__":{"timeout_ms":1}}';
    expectError(await api.call('POST', '/v1/routes', { body }), 400, 'invalid_request');
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', ''])(
    'with a body of the type %j is answered unsupported_media_type',
    async (type) => {
      const headers = { 'content-type': type };
      const answer = await api.call('POST', '/v1/services', { body: '{}', headers });
      expectError(answer, 415, 'unsupported_media_type');
    },
  );

  it('in an encoding that is not known is answered unsupported_media_type', async () => {
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
      [coding, 'no such data', Buffer.from('\u0000\u0001{}')] as const,
      [coding, 'cut data', COMPRESS[coding](Buffer.from('{"name":"x"}')).subarray(0, -6)] as const,
    ]),
  ])(
    'whose body is said to be %s and is %s is answered invalid_request',
    async (coding, _, body) => {
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
      expect(await response.text()).toContain(
        'the body is not encoded as its Content-Encoding says',
      );
    },
  );

  it('with a body above 1 MiB is answered payload_too_large', async () => {
    const body = { name: 'x'.repeat(1024 * 1024) };
    expectError(await api.call('POST', '/v1/services', { body }), 413, 'payload_too_large');
    const fits = { name: 'x'.repeat(1024 * 1024 - 100) };
    expectError(await api.call('POST', '/v1/services', { body: fits }), 400, 'invalid_request');
  });

  it('with a large body and no token is answered 401, and the answer arrives whole', async () => {
    const body = 'x'.repeat(8 * 1024 * 1024);
    const answer = await api.call('POST', '/v1/services', { body, token: null });
    expectError(answer, 401, 'authentication_failed');
  });

  it('with a path that is not validly encoded is answered invalid_request', async () => {
    expectError(await api.call('GET', '/v1/services/%zz'), 400, 'invalid_request');
  });

  it('has the standard headers on 200, 201, 204 and HEAD as well', async () => {
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
      for (const name of STANDARD) expect(headers.get(name)).not.toBeNull();
      expect(headers.get('x-gateway-error')).toBeNull();
    }
  });

  /** What a raw request is answered, read until the server closes the connection. */
  async function raw(request: string): Promise<string> {
    const socket = connect(api.port, '127.0.0.1');
    socket.end(request);
    return text(socket);
  }

  it.each([
    'nonsense\r\n\r\n',
    'GET /v1/services HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n',
    'GET /v1/services HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n',
    `GET /v1/services HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
    'GET /v1/services HTTP/1.1\r\nConnection: close\r\n\r\n',
    'GET /v1/services HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n',
    'GET /v1/services HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n',
  ])('that is not valid HTTP (%#) is answered in the envelope', async (request) => {
    const answer = (await raw(request)).toLowerCase();
    expect(answer).toMatch(/^http\/1\.1 400 bad request\r\n/);
    expect(answer).toContain('"code":"invalid_request"');
    for (const name of [...STANDARD, 'x-gateway-error']) expect(answer).toContain(`\r\n${name}: `);
  });

  const head = (start: string, ...lines: string[]) => [start, ...lines, '', ''].join('\r\n');

  it.each([
    head('GET /v1/services HTTP/1.1', 'Host: '),
    head('GET /v1/services HTTP/1.1', 'Host: a/b'),
    head('GET /v1/services HTTP/1.1', 'Host: user@a'),
    head('GET /v1/services HTTP/1.0', 'Host: a b'),
    head('GET * HTTP/1.1', 'Host: a'),
    head('GET ftp://a/v1/services HTTP/1.1', 'Host: a'),
    head('GET http://user@a/v1/services HTTP/1.1', 'Host: a'),
    head('POST /v1/services HTTP/1.1', 'Host: a', 'Transfer-Encoding: gzip, chunked') + '0\r\n\r\n',
    head('POST /v1/services HTTP/1.0', 'Host: a', 'Transfer-Encoding: chunked') + '0\r\n\r\n',
  ])('that can be read in two ways is refused, and its connection closed: %j', async (request) => {
    const answer = (await raw(request)).toLowerCase();
    expect(answer).toMatch(/^http\/1\.1 400 bad request\r\n/);
    expect(answer).toContain('"code":"invalid_request"');
    expect(answer).toContain('\r\nconnection: close\r\n');
    for (const name of [...STANDARD, 'x-gateway-error']) expect(answer).toContain(`\r\n${name}: `);
  });

  it.each([
    head('POST /v1/nope HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked') + 'none\r\n',
    head('POST /v1/services HTTP/1.1', 'Host: a', 'Transfer-Encoding: identity') + '{}',
  ])('is answered once, though its body is not in order either: %j', async (request) => {
    expect((await raw(request)).match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  it.each([
    head('GET /v1/nope HTTP/1.0', 'Connection: close'),
    head('GET /v1/nope HTTP/1.1', 'Host: [::1]:8081', 'Connection: close'),
    head('GET http://a:80/v1/nope HTTP/1.1', 'Host: b', 'Connection: close'),
    head('GET /v1/nope HTTP/1.1', 'Host: a', 'Transfer-Encoding: Chunked', 'Connection: close') +
      '0\r\n\r\n',
    head('OPTIONS * HTTP/1.1', 'Host: a', 'Connection: close'),
  ])('in another of its forms is read as the plain one: %j', async (request) => {
    expect(await raw(request)).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
  });

  it('by CONNECT is answered method_not_allowed in the envelope', async () => {
    const answer = (await raw('CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n')).toLowerCase();
    expect(answer).toMatch(/^http\/1\.1 405 method not allowed\r\n/);
    expect(answer).toContain('"code":"method_not_allowed"');
    for (const name of [...STANDARD, 'x-gateway-error', 'allow']) {
      expect(answer).toContain(`\r\n${name}: `);
    }
  });
});
