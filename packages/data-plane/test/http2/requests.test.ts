import type { ClientHttp2Session } from 'node:http2';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { http2Answer, http2Call } from '../http2-call.ts';
import { SlowQuotas } from '../slow-quotas.ts';
import { startSecureDataPath, type SecureDataPath } from '../secure-data-path.ts';
import {
  startRawUpstream,
  startUpstream,
  type SeenRequest,
  type TestUpstream,
} from '@gateway/shared/test/upstream';

let upstream: TestUpstream;
let gateway: SecureDataPath;
let session: ClientHttp2Session;
let bearer: { authorization: string };

const LARGE = 'x'.repeat(3_000_000);

beforeEach(async () => {
  upstream = await startUpstream((seen, response) => {
    if (seen.url.endsWith('/large')) response.end(LARGE);
    else if (seen.url.endsWith('/fields')) {
      const fields = ['X-One', '1', 'Set-Cookie', 'a', 'Set-Cookie', 'b', 'ETag', '1', 'ETag', '2'];
      response.writeHead(201, 'Made', [
        ...fields,
        'Keep-Alive',
        'timeout=9',
        'Connection',
        'X-Hop',
        'X-Hop',
        'h',
      ]);
      response.end('fields');
    } else if (seen.url.endsWith('/none')) response.writeHead(204).end();
    else response.end(seen.body === '' ? 'ok' : seen.body);
  });
  gateway = await startSecureDataPath({ upstreams: [upstream.url] });
  session = gateway.connectHttp2();
  bearer = { authorization: `Bearer ${gateway.token}` };
});

afterEach(async () => {
  session.destroy();
  await gateway.stop();
  await upstream.close();
});

const only = (): SeenRequest => {
  expect(upstream.seen).toHaveLength(1);
  return upstream.seen[0] as SeenRequest;
};

const names = (seen: SeenRequest) =>
  seen.rawHeaders.filter((_name, index) => index % 2 === 0).map((name) => name.toLowerCase());

describe('an HTTP/2 request', () => {
  it('is forwarded as an HTTP/1.1 request, and has a record', async () => {
    const answer = await http2Call(session, {
      ':path': '/v1/proxy/test/sub?q=1',
      ...bearer,
      'x-own': 'v',
    });
    expect(answer).toMatchObject({ status: 200, body: 'ok', code: 0, complete: true });
    const seen = only();
    expect(seen).toMatchObject({ method: 'GET', url: '/sub?q=1' });
    expect(seen.headers).toMatchObject({
      'x-own': 'v',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': `127.0.0.1:${gateway.port}`,
      'x-forwarded-for': '127.0.0.1',
      host: new URL(upstream.url).host,
      'cdn-loop': 'gateway',
    });
    expect(names(seen).filter((name) => name.startsWith(':'))).toEqual([]);
    expect(names(seen)).not.toContain('transfer-encoding');
    const record = await gateway.recordOf(String(answer.headers['x-request-id']));
    expect(record).toMatchObject({ status: 200, outcome: 'success', route: 'test' });
    expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '1000' });
  });

  it('may have a large body, in both directions', async () => {
    const large = await http2Call(session, { ':method': 'PUT', ...bearer }, LARGE);
    expect(large.body === LARGE).toBe(true);
    expect(names(only())).not.toContain('expect');
  });

  it('gets 100 Continue when its body is read', async () => {
    const fields = { ':path': '/v1/proxy/test', ':method': 'POST', expect: '100-continue' };
    const stream = session.request({ ...fields, ...bearer, 'content-length': '2' });
    stream.once('continue', () => stream.end('ab'));
    expect((await http2Answer(stream)).body).toBe('ab');
    const refused = session.request({ ...fields, 'content-length': '2' });
    let told = false;
    refused.once('continue', () => void (told = true));
    expect(await http2Answer(refused)).toMatchObject({ status: 401, code: 0, complete: true });
    expect(told).toBe(false);
  });

  it('is refused like an HTTP/1.1 request', async () => {
    const wrong = await http2Call(session, { authorization: 'Bearer nobody' });
    expect(wrong).toMatchObject({ status: 401, complete: true });
    expect(wrong.headers['x-gateway-error']).toBe('authentication_failed');
    const path = await http2Call(session, { ':path': '/elsewhere' });
    expect(path).toMatchObject({ status: 404 });
    const large = { ':method': 'POST', 'content-length': String(11 * 1024 * 1024), ...bearer };
    const stream = session.request({ ':path': '/v1/proxy/test', ...large });
    expect(await http2Answer(stream)).toMatchObject({ status: 413, code: 0, complete: true });
    expect(upstream.seen).toEqual([]);
  });
});

describe('a response over HTTP/2', () => {
  it('has the status and the end-to-end fields of the upstream, and no connection-specific ones', async () => {
    const { status, headers, body } = await http2Call(session, {
      ':path': '/v1/proxy/test/fields',
      ...bearer,
    });
    expect({ status, body }).toEqual({ status: 201, body: 'fields' });
    expect(headers).toMatchObject({ 'x-one': '1', 'set-cookie': ['a', 'b'] });
    for (const name of ['connection', 'keep-alive', 'transfer-encoding', 'x-hop']) {
      expect(headers).not.toHaveProperty(name);
    }
  });

  it('arrives completely if many large ones share a connection', async () => {
    const large = { ':path': '/v1/proxy/test/large', ...bearer };
    const answers = await Promise.all(Array.from({ length: 8 }, () => http2Call(session, large)));
    for (const { body, complete } of answers)
      expect([body === LARGE, complete]).toEqual([true, true]);
  });

  it('never looks complete if the upstream closes the connection early', async () => {
    const breaking = await startRawUpstream((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n');
        setImmediate(() => socket.end());
      });
    });
    const other = await startSecureDataPath({ upstreams: [breaking.url] });
    const connection = other.connectHttp2();
    const answer = await http2Call(connection, { authorization: `Bearer ${other.token}` });
    expect(answer).toMatchObject({ status: 200, body: 'part', complete: false, code: 2 });
    const record = await other.recordOf(String(answer.headers['x-request-id']));
    expect(record.outcome).toBe('upstream_error');
    connection.destroy();
    await other.stop();
    await breaking.close();
  });

  it('is cancelled upstream when its caller leaves, and recorded as such', async () => {
    let opened = 0;
    let closed = 0;
    const silent = await startRawUpstream((socket) => {
      opened += 1;
      socket.on('data', () => undefined);
      socket.once('close', () => (closed += 1));
    });
    const other = await startSecureDataPath({ upstreams: [silent.url] });
    const connection = other.connectHttp2();
    const stream = connection.request({
      ':path': '/v1/proxy/test',
      authorization: `Bearer ${other.token}`,
    });
    stream.on('error', () => undefined);
    await eventually(() => expect(opened).toBe(1));
    stream.close(8);
    await eventually(() => expect(closed).toBe(1));
    await eventually(() => expect(other.records[0]?.outcome).toBe('client_aborted'));
    expect(await other.inFlight()).toBe(0);
    connection.destroy();
    await other.stop();
    await silent.close();
  });

  it('ends at once if its caller leaves within the body while the quota is pending', async () => {
    const quotas = new SlowQuotas();
    const route = { upstreams: [upstream.url], timeout_ms: 60_000 };
    const other = await startSecureDataPath(route, { quotas });
    const connection = other.connectHttp2();
    const stream = connection.request({
      ':path': '/v1/proxy/test',
      ':method': 'POST',
      'content-length': '1000',
      authorization: `Bearer ${other.token}`,
    });
    stream.on('error', () => undefined);
    stream.write('hello');
    await eventually(() => expect(quotas.waiting).toHaveLength(1));
    stream.close(8);
    await eventually(() => expect(other.records[0]?.outcome).toBe('client_aborted'));
    expect(await other.inFlight()).toBe(0);
    connection.destroy();
    await other.stop();
    expect(upstream.seen).toEqual([]);
  });
});
