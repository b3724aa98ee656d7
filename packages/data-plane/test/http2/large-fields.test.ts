import type { ClientHttp2Session } from 'node:http2';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { http2Call } from '../http2-call.ts';
import { startSecureDataPath, type SecureDataPath } from '../secure-data-path.ts';

let upstream: TestUpstream;
let gateway: SecureDataPath;
let session: ClientHttp2Session;

beforeEach(async () => {
  upstream = await startUpstream();
  const environment = { MAX_HEADER_BYTES: '4096', MAX_HEADER_LINES: '16' };
  gateway = await startSecureDataPath({ upstreams: [upstream.url] }, { environment });
  session = gateway.connectHttp2();
});

afterEach(async () => {
  session.destroy();
  await gateway.stop();
  await upstream.close();
});

const lines = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, '']));

describe('an HTTP/2 request whose fields are too large', () => {
  it.each<[string, number, string, Record<string, string | string[]>]>([
    ['one field', 431, 'header_fields_too_large', { 'x-large': 'y'.repeat(5000) }],
    ['a little too many fields', 431, 'header_fields_too_large', lines(20)],
    ['many fields', 431, 'header_fields_too_large', lines(60)],
    ['its path', 414, 'uri_too_long', { ':path': `/v1/proxy/test?${'a'.repeat(5000)}` }],
    [
      'a field of a POST',
      431,
      'header_fields_too_large',
      { ':method': 'POST', 'x-large': 'y'.repeat(5000) },
    ],
  ])('gets a response, and its connection continues: %s', async (_case, status, code, fields) => {
    const bearer = { authorization: `Bearer ${gateway.token}` };
    const body = fields[':method'] === 'POST' ? 'hello' : undefined;
    const answer = await http2Call(session, { ...bearer, ...fields }, body);
    expect(answer).toMatchObject({ status, headers: { 'x-gateway-error': code } });
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code } });
    expect((await http2Call(session, bearer)).status).toBe(200);
    expect(upstream.seen).toHaveLength(1);
  });

  it('counts as malformed, as over HTTP/1.1', async () => {
    await http2Call(session, { 'x-large': 'y'.repeat(5000) });
    expect(await gateway.registry.metrics()).toContain(
      'gateway_malformed_requests_total{reason="header_overflow"} 1\n',
    );
  });
});
