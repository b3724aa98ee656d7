import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall, rawConnection } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { closedPort, startUpstream } from '@gateway/shared/test/upstream';
import { http2Answer } from '../../test/http2-call.ts';
import { startTestDataPath } from '../../test/data-path.ts';
import { startSecureDataPath } from '../../test/secure-data-path.ts';

const opened = closeAfterEach();
const ACCEPT = 'application/problem+json';

/** The problem details of a refusal, with all that must be true of them. */
function problemOf(headers: Headers, text: string) {
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(headers.get('vary')).toBe('Accept');
  const problem = JSON.parse(text) as Record<string, unknown>;
  const error = problem['error'] as Record<string, unknown>;
  const id = headers.get('x-request-id');
  expect(Object.keys(problem)).toEqual([
    ...['type', 'title', 'status', 'detail', 'instance'],
    'error',
  ]);
  expect(problem).toMatchObject({
    type: `/docs/errors#${headers.get('x-gateway-error')}`,
    detail: error['message'],
    instance: `/v1/requests/${id}`,
    error: { code: headers.get('x-gateway-error'), request_id: id },
  });
  return problem;
}

async function setUp(url = 'http://127.0.0.1:1') {
  const gateway = opened(await startTestDataPath({ upstreams: [url], methods: ['GET', 'HEAD'] }));
  const get = (lines: readonly string[], method = 'GET', httpVersion: '1.0' | '1.1' = '1.1') =>
    rawCall(gateway.port, { method, httpVersion, lines: ['Host: gateway.test', ...lines] });
  return { gateway, get };
}

describe('an error of the gateway', () => {
  it.each(['1.0', '1.1'] as const)(
    'is problem details if HTTP/%s asks for them',
    async (version) => {
      const { get } = await setUp();
      const answer = await get([`Accept: ${ACCEPT}`], 'GET', version);
      const problem = problemOf(answer.headers, await answer.text());
      expect(problem).toMatchObject({ status: 401, title: 'Authentication failed' });
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    },
  );

  it('is problem details over HTTP/2', async () => {
    const gateway = opened(await startSecureDataPath({ upstreams: ['http://127.0.0.1:1'] }));
    const session = gateway.connectHttp2();
    const stream = session.request({ ':path': '/v1/proxy/test', accept: ACCEPT });
    const { headers, body } = await http2Answer(stream);
    const read = Object.entries(headers).filter(([name]) => !name.startsWith(':'));
    problemOf(
      new Headers(read.map(([name, value]): [string, string] => [name, String(value)])),
      body,
    );
    session.destroy();
  });

  it('is problem details if an upstream fails, or a WebSocket is refused', async () => {
    const { gateway, get } = await setUp(`http://127.0.0.1:${await closedPort()}`);
    const token = `Authorization: Bearer ${gateway.token}`;
    const failed = await get([token, `Accept: ${ACCEPT}`]);
    expect(problemOf(failed.headers, await failed.text())).toMatchObject({ status: 502 });
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const refused = await get([...upgrade, key, `Accept: ${ACCEPT}`]);
    expect(problemOf(refused.headers, await refused.text())).toMatchObject({ status: 401 });
  });

  it('has the fields of GET and no body in the answer to HEAD', async () => {
    const { get } = await setUp();
    const got = await get([`Accept: ${ACCEPT}`]);
    const head = await get([`Accept: ${ACCEPT}`], 'HEAD');
    expect(await head.text()).toBe('');
    for (const name of ['content-type', 'vary', 'content-length']) {
      expect([name, head.headers.get(name)]).toEqual([name, got.headers.get(name)]);
    }
  });

  it('reads several Accept fields as one list', async () => {
    const { get } = await setUp();
    const problem = await get(['Accept: text/html', `accept: ${ACCEPT}`]);
    problemOf(problem.headers, await problem.text());
    const json = await get([`Accept: ${ACCEPT};q=0.5`, 'Accept: application/json']);
    await expectRefusal(json, 401, 'authentication_failed');
  });

  it('is the promised JSON for everybody else, and says that it varies', async () => {
    const { gateway, get } = await setUp();
    for (const lines of [[], ['Accept: */*'], [`Accept: ${ACCEPT};q=0`]]) {
      const answer = await get(lines);
      await expectRefusal(answer, 401, 'authentication_failed');
      expect(answer.headers.get('vary')).toBe('Accept');
    }
    const connection = opened(await rawConnection(gateway.port));
    connection.send(
      `GET /v1/proxy/test HTTP/1.1\r\nHost: a\r\nAccept: ${ACCEPT}\r\nno field\r\n\r\n`,
    );
    const malformed = await connection.response();
    await expectRefusal(malformed, 400, 'invalid_request');
    expect(malformed.headers.get('vary')).toBe('Accept');
  });

  it('is no error of an upstream: that goes on as it came', async () => {
    const upstream = opened(
      await startUpstream((_seen, response) => void response.writeHead(404).end('none')),
    );
    const { gateway, get } = await setUp(upstream.url);
    const answer = await get([`Authorization: Bearer ${gateway.token}`, `Accept: ${ACCEPT}`]);
    expect([answer.status, await answer.text()]).toEqual([404, 'none']);
    expect(answer.headers.get('vary')).toBeNull();
    expect(upstream.seen[0]?.headers['accept']).toBe(ACCEPT);
  });
});
