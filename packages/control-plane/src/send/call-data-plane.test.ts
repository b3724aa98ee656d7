import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { systemClock } from '@gateway/shared/clock';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { closedPort, listen, startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';
import fc from 'fast-check';
import { createDataPlaneCaller, type SentRequest } from './call-data-plane.ts';
import { MAX_SHOWN_BYTES } from './data-plane-response.ts';

const opened = closeAfterEach();

const warnings: Error[] = [];
const note = (warning: Error) => void warnings.push(warning);
beforeEach(() => void process.on('warning', note));
afterEach(() => {
  process.off('warning', note);
  expect(warnings.splice(0)).toEqual([]);
});

const GET: SentRequest = {
  method: 'GET',
  target: '/v1/proxy/a',
  headers: [],
  body: Buffer.alloc(0),
};
const unlimited = () => ({ timeoutMs: 60_000, signal: new AbortController().signal });

function callerOf(url: string, clock = systemClock) {
  const call = createDataPlaneCaller(new URL(url), clock);
  return (request: Partial<SentRequest> = {}, limits = unlimited()) =>
    call({ ...GET, ...request }, limits);
}

describe('a request to a data plane', () => {
  it.each([
    '/v1/proxy/a//b///c?x=//y&z=http://a//b',
    '/v1/proxy/a/"<>[]{}|\\^`\'',
    '/v1/proxy/a/%2F%20%zz?',
    '/v1/proxy/a/http:/b/https:/c',
  ])('has the target %s as it is', async (target) => {
    const upstream = opened(await startUpstream());
    await callerOf(upstream.url)({ target });
    expect(upstream.seen.map(({ url }) => url)).toEqual([target]);
  });

  it('has the headers that are given, and beside them only what HTTP needs', async () => {
    const upstream = opened(await startUpstream());
    const headers = [
      ['Host', 'api.example'],
      ['X-A', '1'],
      ['x-a', '2'],
      ['Cookie', 'a=b'],
      ['X-Latin', 'é'],
    ] as const;
    await callerOf(upstream.url)({ method: 'POST', headers, body: Buffer.from('body') });
    const { rawHeaders, body } = upstream.seen[0] ?? { rawHeaders: [], body: '' };
    expect(body).toBe('body');
    expect(rawHeaders).toEqual([
      ...['host', 'api.example', 'x-a', '1', 'x-a', '2', 'cookie', 'a=b', 'x-latin', 'é'],
      ...['content-length', '4', 'Connection', 'close'],
    ]);
  });

  it.each([
    ['GET', undefined],
    ['HEAD', undefined],
    ['OPTIONS', '0'],
    ['POST', '0'],
    ['DELETE', '0'],
    ['REPORT', '0'],
  ])('without a body: %s has the length %s and no chunks', async (method, length) => {
    const upstream = opened(await startUpstream());
    await callerOf(upstream.url)({ method });
    const headers = upstream.seen[0]?.headers;
    expect(headers?.['content-length']).toBe(length);
    expect(headers?.['transfer-encoding']).toBeUndefined();
  });

  it('carries any body unchanged', async () => {
    const upstream = opened(
      await startUpstream((seen, response) => void response.end(Buffer.from(seen.body, 'latin1'))),
    );
    const call = callerOf(upstream.url);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 70_000 }), async (bytes) => {
        const sent = await call({ method: 'GET', body: Buffer.from(bytes) });
        expect(sent.kind === 'response' && sent.response.body.equals(bytes)).toBe(true);
      }),
      { numRuns: 20, seed: 104 },
    );
  });

  it('gives the response as it is, and follows no redirect', async () => {
    const elsewhere = opened(await startUpstream());
    const upstream = opened(
      await startUpstream((_seen, response) => {
        response.writeHead(307, 'Over There', [
          ...['Location', `${elsewhere.url}/x`, 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'],
        ]);
        response.end('moved');
      }),
    );
    const sent = await callerOf(upstream.url)();
    expect(sent).toMatchObject({
      response: { status: 307, statusText: 'Over There', end: 'complete' },
    });
    const { headers = [], body } = sent.kind === 'response' ? sent.response : {};
    expect(headers.filter(([name]) => name === 'Set-Cookie')).toEqual([
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
    ]);
    expect(String(body)).toBe('moved');
    expect(elsewhere.begun).toEqual([]);
  });
});

describe('a response that does not end well', () => {
  it('is cut at its bound, and the rest is not read', async () => {
    const closed: unknown[] = [];
    const server = createServer((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
      };
      response.on('drain', more).on('close', () => closed.push(response.writableFinished));
      more();
    });
    const sent = await callerOf(opened(await listen(server)).url)();
    expect(sent).toMatchObject({ response: { status: 200, end: 'size' } });
    expect(sent.kind === 'response' && sent.response.body.length).toBe(MAX_SHOWN_BYTES);
    await eventually(() => expect(closed).toEqual([false]));
  });

  it('is complete if it has exactly the bound', async () => {
    const upstream = opened(
      await startUpstream((_seen, response) => void response.end(Buffer.alloc(MAX_SHOWN_BYTES))),
    );
    const sent = await callerOf(upstream.url)();
    expect(sent).toMatchObject({ response: { end: 'complete' } });
  });

  it.each([
    ['a length', 'Content-Length: 100\r\n\r\nhalf'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
  ])('is shown as broken if the connection is lost within %s', async (_kind, rest) => {
    for (const lose of ['destroy', 'resetAndDestroy'] as const) {
      const upstream = opened(
        await startRawUpstream((socket) => {
          socket.once('data', () => {
            socket.write(`HTTP/1.1 200 OK\r\n${rest}`, () => setImmediate(() => socket[lose]()));
          });
        }),
      );
      const sent = await callerOf(upstream.url)();
      expect(sent).toMatchObject({ response: { status: 200, end: 'broken' } });
    }
  });

  it('is shown as far as it came when the time is over, and its connection is closed', async () => {
    const manual = manualClock();
    let asked = 0;
    // It is asked at the start, and when the head has arrived.
    const clock = { ...manual, monotonicMs: () => ((asked += 1), manual.monotonicMs()) };
    const ended: string[] = [];
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n');
        });
        socket.once('close', () => ended.push('closed'));
      }),
    );
    const sending = callerOf(upstream.url, clock)({}, { ...unlimited(), timeoutMs: 1000 });
    await eventually(() => expect(asked).toBe(2));
    manual.advance(1000);
    expect(await sending).toMatchObject({ response: { status: 200, end: 'time' } });
    await eventually(() => expect(ended).toEqual(['closed']));
  });
});

describe('a data plane without a response', () => {
  it('is unreachable if nothing listens', async () => {
    const port = await closedPort();
    const sent = await callerOf(`http://127.0.0.1:${port}`)();
    expect(sent).toEqual({
      kind: 'unreachable',
      reason: 'ECONNREFUSED',
      mayHaveArrived: false,
    });
  });

  it.each([
    ['closes', 'destroy'],
    ['resets', 'resetAndDestroy'],
  ] as const)('is unreachable if it %s the connection', async (_kind, lose) => {
    const upstream = opened(
      await startRawUpstream((socket) => void socket.once('data', () => void socket[lose]())),
    );
    const sent = await callerOf(upstream.url)({ method: 'POST', body: Buffer.alloc(500_000) });
    expect(sent).toMatchObject({ kind: 'unreachable', mayHaveArrived: true });
  });

  it.each([
    ['is no HTTP', 'SSH-2.0-OpenSSH\r\n'],
    [
      'switches to another protocol',
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    ],
    ['has an endless head', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`],
  ])('is unreachable if what it sends %s', async (_kind, bytes) => {
    const upstream = opened(
      await startRawUpstream((socket) => void socket.once('data', () => void socket.write(bytes))),
    );
    expect((await callerOf(upstream.url)()).kind).toBe('unreachable');
  });

  it('is silent when the time is over, and its connection is closed', async () => {
    const clock = manualClock();
    const upstream = opened(await startRawUpstream((socket) => void socket.resume()));
    const sending = callerOf(upstream.url, clock)({}, { ...unlimited(), timeoutMs: 1000 });
    clock.advance(1000);
    expect(await sending).toEqual({ kind: 'silent' });
  });

  it('is left when the browser leaves, and the connection to it is closed', async () => {
    const leaving = new AbortController();
    const closed: string[] = [];
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.once('data', () => leaving.abort());
        socket.once('close', () => closed.push('closed'));
      }),
    );
    const sent = await callerOf(upstream.url)({}, { ...unlimited(), signal: leaving.signal });
    expect(sent).toEqual({ kind: 'left' });
    await eventually(() => expect(closed).toEqual(['closed']));
  });

  it('is not called for a browser that has already left', async () => {
    const upstream = opened(await startUpstream());
    const signal = AbortSignal.abort();
    expect(await callerOf(upstream.url)({}, { ...unlimited(), signal })).toEqual({ kind: 'left' });
    expect(upstream.begun).toEqual([]);
  });
});

describe('a data plane with TLS', () => {
  const trusted = getCACertificates('default');
  const authority = createTestAuthority('data planes');
  beforeAll(() => setDefaultCACertificates([...trusted, authority.certPem]));
  afterAll(() => setDefaultCACertificates(trusted));

  /** A server whose certificate has these names. */
  async function serve(names: readonly string[]) {
    const { certPem: cert, keyPem: key } = authority.issue(names);
    const asked: unknown[] = [];
    const server = createSecureServer({ cert, key }, (_request, response) => response.end('ok'));
    server.on('secureConnection', ({ servername }) => void asked.push(servername));
    const { port } = opened(await listen(server));
    return { asked, call: (host: string) => callerOf(`https://${host}:${port}`) };
  }

  it('is asked for the name in its URL and checked for that, whatever Host the request has', async () => {
    const { asked, call } = await serve(['localhost', '127.0.0.1']);
    const headers = [['Host', 'api.example']] as const;
    expect((await call('localhost')({ headers })).kind).toBe('response');
    expect((await call('127.0.0.1')({ headers })).kind).toBe('response');
    expect(asked).toEqual(['localhost', false]);
  });

  it('is not called if its certificate is for the Host of the request only, or of nobody known', async () => {
    const { call } = await serve(['api.example']);
    const headers = [['Host', 'api.example']] as const;
    expect(await call('localhost')({ headers })).toEqual({
      kind: 'unreachable',
      reason: 'ERR_TLS_CERT_ALTNAME_INVALID',
      mayHaveArrived: false,
    });
    setDefaultCACertificates(trusted);
    const { call: callUnknown } = await serve(['localhost']);
    expect((await callUnknown('localhost')()).kind).toBe('unreachable');
  });
});
