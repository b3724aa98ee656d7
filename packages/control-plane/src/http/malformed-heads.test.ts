import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../test/api.ts';
import { STANDARD_HEADERS } from '../../test/expect-error.ts';

describe('the head of a request', () => {
  let api: TestApi;
  beforeAll(async () => void (api = await startTestApi()));
  afterAll(() => api.close());

  /** Sends a raw request and reads until the server closes the connection. */
  async function raw(request: string): Promise<string> {
    const socket = connect(api.port, '127.0.0.1');
    socket.end(request);
    return text(socket);
  }

  it.each([
    'nonsense\r\n\r\n',
    'GET /v1/services HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n',
    'GET /v1/services HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n',
    'GET /v1/services HTTP/1.1\r\nConnection: close\r\n\r\n',
    'GET /v1/services HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n',
    'GET /v1/services HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n',
    'POST /v1/services HTTP/1.1\r\nHost: a\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\nConnection: close\r\n\r\n',
  ])('that is not valid HTTP (%#) gets an error envelope', async (request) => {
    const answer = (await raw(request)).toLowerCase();
    expect(answer).toMatch(/^http\/1\.1 400 bad request\r\n/);
    expect(answer).toContain('"code":"invalid_request"');
    for (const name of [...STANDARD_HEADERS, 'x-gateway-error'])
      expect(answer).toContain(`\r\n${name}: `);
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
    head('POST /v1/services HTTP/1.0', 'Host: a', 'Transfer-Encoding: chunked') + '0\r\n\r\n',
  ])(
    'that proxies may understand differently is refused and its connection closed: %j',
    async (request) => {
      const answer = (await raw(request)).toLowerCase();
      expect(answer).toMatch(/^http\/1\.1 400 bad request\r\n/);
      expect(answer).toContain('"code":"invalid_request"');
      expect(answer).toContain('\r\nconnection: close\r\n');
      for (const name of [...STANDARD_HEADERS, 'x-gateway-error'])
        expect(answer).toContain(`\r\n${name}: `);
    },
  );

  it.each([
    head('POST /v1/nope HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked') + 'none\r\n',
    head('POST /v1/services HTTP/1.1', 'Host: a', 'Transfer-Encoding: identity') + '{}',
  ])('with an invalid head and an invalid body gets one response: %j', async (request) => {
    expect((await raw(request)).match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  it.each([
    head('GET /v1/nope HTTP/1.0', 'Connection: close'),
    head('GET /v1/nope HTTP/1.1', 'Host: [::1]:8081', 'Connection: close'),
    head('GET /v1/nope HTTP/1.1', 'Host: a', 'host: a', 'Connection: close'),
    head('GET http://a:80/v1/nope HTTP/1.1', 'Host: b', 'Connection: close'),
    head('GET /v1/nope HTTP/1.1', 'Host: a', 'Transfer-Encoding: Chunked', 'Connection: close') +
      '0\r\n\r\n',
  ])('in any valid form is accepted: %j', async (request) => {
    expect(await raw(request)).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
  });

  it.each([
    [
      501,
      'not_implemented',
      head('POST /v1/services HTTP/1.1', 'Host: a', 'Transfer-Encoding: gzip, chunked') +
        '0\r\n\r\n',
    ],
    [431, 'header_fields_too_large', head('GET / HTTP/1.1', 'Host: a', `X: ${'y'.repeat(20_000)}`)],
    [414, 'uri_too_long', head(`GET /v1/services?${'a'.repeat(20_000)} HTTP/1.1`, 'Host: a')],
    ...['3.0', '2.0', '1.2', '0.9'].map(
      (version) =>
        [
          505,
          'http_version_not_supported',
          head(`GET /v1/services HTTP/${version}`, 'Host: a'),
        ] as const,
    ),
  ])(
    'that the server does not support gets %i and its connection is closed: %s',
    async (status, code, request) => {
      const answer = (await raw(request)).toLowerCase();
      expect(answer).toMatch(new RegExp(`^http/1\\.1 ${status} `));
      expect(answer).toContain(`"code":"${code}"`);
      expect(answer).toContain('\r\nconnection: close\r\n');
      for (const name of [...STANDARD_HEADERS, 'x-gateway-error'])
        expect(answer).toContain(`\r\n${name}: `);
    },
  );

  it('OPTIONS * gets the methods of the API', async () => {
    const answer = (
      await raw(head('OPTIONS * HTTP/1.1', 'Host: a', 'Connection: close'))
    ).toLowerCase();
    expect(answer).toMatch(/^http\/1\.1 204 no content\r\n/);
    expect(answer).toContain('\r\nallow: get, head, options, ');
    for (const name of STANDARD_HEADERS) expect(answer).toContain(`\r\n${name}: `);
  });

  it('CONNECT gets method_not_allowed in an error envelope', async () => {
    const answer = (await raw('CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n')).toLowerCase();
    expect(answer).toMatch(/^http\/1\.1 405 method not allowed\r\n/);
    expect(answer).toContain('"code":"method_not_allowed"');
    for (const name of [...STANDARD_HEADERS, 'x-gateway-error', 'allow']) {
      expect(answer).toContain(`\r\n${name}: `);
    }
  });
});
