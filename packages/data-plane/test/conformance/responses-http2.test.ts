import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ClientHttp2Session } from 'node:http2';
import { http2Call } from '../http2-call.ts';
import { startSecureDataPath, type SecureDataPath } from '../secure-data-path.ts';
import type { ConformanceCase } from './case.ts';
import { RESPONSE_SUITES } from './cases/all.ts';
import { startRecordingUpstream, type RecordingUpstream } from './recording-upstream.ts';

const PATH = '/v1/proxy/test/case';
const ONE_CONNECTION = { MAX_UPSTREAM_CONNECTIONS: '1' };

/** Responses that a caller must treat as malformed (RFC 9113 section 8.1.1). */
const CONNECTION_FIELDS = [
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'],
  'http2-settings',
];

let upstream: RecordingUpstream;
let gateway: SecureDataPath;
let session: ClientHttp2Session;

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  gateway = await startSecureDataPath(
    { upstreams: [upstream.url], retry_count: 0 },
    { environment: ONE_CONNECTION },
  );
  session = gateway.connectHttp2();
});

afterAll(async () => {
  session.destroy();
  await gateway.stop();
  await upstream.close();
});

const ask = (path: string) =>
  http2Call(session, { ':path': path, authorization: `Bearer ${gateway.token}` });

/** Sends two requests on one connection. The second one uses the upstream connection of the first. */
async function canaries(): Promise<void> {
  for (const name of ['canary-one', 'canary-two']) {
    expect(await ask(`/v1/proxy/test/${name}`)).toMatchObject({ status: 200, body: name });
  }
}

async function run({ client, answer }: ConformanceCase): Promise<void> {
  upstream.script = answer;
  upstream.requests.length = 0;
  const { status, body, headers, complete } = await ask(PATH);
  const [expected] = client.responses;
  if (expected === 'broken') {
    // It fails within its head, or within its body.
    expect([0, 200]).toContain(status);
    expect(complete).toBe(false);
  } else {
    expect({ status, complete }).toEqual({ status: expected, complete: true });
    expect(headers['x-gateway-error']).toBe(client.code);
    if (client.body !== undefined) expect(body).toBe(client.body);
    for (const name of CONNECTION_FIELDS) expect(headers).not.toHaveProperty(name);
    for (const name of client.lacks ?? []) expect(headers).not.toHaveProperty(name);
  }
  expect(upstream.requests.map(({ target }) => target)).toEqual(['/base/case']);
  await canaries();
}

describe.each(Object.entries(RESPONSE_SUITES))('over HTTP/2: %s', (_suite, cases) => {
  const asked = cases.filter(({ client }) => client.methods === undefined);
  it.each(asked.map((one) => [one.name, one.rule, one] as const))(
    '%s [%s]',
    async (_name, _rule, one) => run(one),
  );
});

describe('over HTTP/2: a 205 with a body', () => {
  it('is passed on without the body and its length', async () => {
    upstream.script = { bytes: 'HTTP/1.1 205 Reset\r\nContent-Length: 6\r\n\r\npoison' };
    const answer = await ask(PATH);
    expect(answer).toMatchObject({ status: 205, body: '', complete: true, code: 0 });
    expect(answer.headers).not.toHaveProperty('content-length');
    await canaries();
  });
});
