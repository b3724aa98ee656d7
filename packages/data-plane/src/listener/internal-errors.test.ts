import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { WaitingBody } from '@gateway/http/message/waiting-body';
import { Http1Exchange } from '@gateway/http/http1/server/exchange';
import { Connection } from '@gateway/http/http2/connection';
import { Sender } from '@gateway/http/http2/sender';
import { Session } from '@gateway/http/http2/session';
import { Stream } from '@gateway/http/http2/stream';
import { systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import { requestText } from '@gateway/shared/test/raw-client';
import { closedPort, startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { http2Call } from '../../test/http2-call.ts';
import { startSecureDataPath, type SecureDataPath } from '../../test/secure-data-path.ts';
import { Attempt } from '../upstream/attempt.ts';

const UPGRADE = [
  ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

let upstream: TestUpstream;
let gateway: SecureDataPath;
/** Where the code of the gateway throws now. */
let bug: 'context' | 'record' | 'pool' | undefined;

function failIn(part: typeof bug): void {
  if (bug === part) throw new Error(`a bug in the ${part}`);
}

beforeEach(async () => {
  bug = undefined;
  upstream = await startUpstream(({ url }, response) => {
    if (url.endsWith('/reset')) response.destroy();
    else if (!url.endsWith('/hang')) response.end('ok');
  });
  const clock = {
    ...systemClock,
    nowMs() {
      failIn('context');
      return systemClock.nowMs();
    },
    monotonicMs() {
      if (bug === 'pool' && new Error().stack?.includes('ConnectionPool.freed') === true) {
        failIn('pool');
      }
      return systemClock.monotonicMs();
    },
  };
  const onRecord = () => failIn('record');
  const route = { upstreams: [upstream.url], retry_count: 0, timeout_ms: 1000 };
  // Connections of HTTP/2 are checked four times in the shortest of their time-outs.
  const environment = {
    CONTROL_PLANE_URL: `http://127.0.0.1:${await closedPort()}`,
    BODY_IDLE_TIMEOUT_MS: '800',
  };
  gateway = await startSecureDataPath(route, { clock, onRecord, environment });
});

afterEach(async () => {
  bug = undefined;
  jest.restoreAllMocks();
  await gateway.stop();
  await upstream.close();
});

const bearer = () => ({ authorization: `Bearer ${gateway.token}` });

/** The next call of a method throws. */
function throwOnce(part: object, method: string): void {
  jest.spyOn(part as Record<string, () => unknown>, method).mockImplementationOnce(() => {
    throw new Error('a bug');
  });
}

const lines = () =>
  gateway.logLines.filter((line) => line.includes('connection failed unexpectedly'));

async function servesOthers(): Promise<void> {
  const session = gateway.connectHttp2();
  const answer = await http2Call(session, bearer());
  session.destroy();
  expect(answer).toMatchObject({ status: 200, body: 'ok' });
}

const hanging = () => eventually(() => expect(upstream.seen.length).toBeGreaterThan(0));

/** Sends a request that hangs. Leaves after something was broken. */
async function leaveHttp1(breakPart: () => void): Promise<void> {
  const ca = gateway.authority.certPem;
  const socket = connectTls({ port: gateway.port, host: '127.0.0.1', ca });
  socket.on('error', () => undefined).resume();
  await once(socket, 'secureConnect');
  const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
  socket.write(requestText({ target: '/v1/proxy/test/hang', lines }));
  await hanging();
  breakPart();
  socket.destroy();
}

async function leaveHttp2(breakPart: () => void, streams = 1): Promise<void> {
  const session = gateway.connectHttp2();
  session.on('error', () => undefined);
  for (let stream = 0; stream < streams; stream += 1) {
    const request = session.request({ ':path': '/v1/proxy/test/hang', ...bearer() });
    request.on('error', () => undefined).end();
  }
  await eventually(() => expect(upstream.seen).toHaveLength(streams));
  breakPart();
  session.destroy();
}

const cancelFails = () => throwOnce(Attempt.prototype, 'cancel');
const recordFails = () => void (bug = 'record');

/** Sends a request. Resolves when its connection is closed. */
async function overHttp1(target: string, lines: readonly string[] = []): Promise<void> {
  const ca = gateway.authority.certPem;
  const socket = connectTls({ port: gateway.port, host: '127.0.0.1', ca });
  socket.on('error', () => undefined).resume();
  await once(socket, 'secureConnect');
  const own = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
  const request = requestText({ target, lines: [...own, ...lines] });
  socket.write(request);
  if (!socket.closed) await once(socket, 'close');
}

async function overHttp2(path = '/v1/proxy/test', body?: string): Promise<void> {
  const session = gateway.connectHttp2();
  session.on('error', () => undefined);
  const closed = once(session, 'close');
  await http2Call(session, { ':path': path, ...bearer() }, body);
  await closed;
}

describe('an internal error ends its connection, with one log line, and never the process', () => {
  it.each<[string, typeof bug, () => Promise<void>]>([
    ['a request of HTTP/1.1', 'context', () => overHttp1('/v1/proxy/test')],
    ['a request of HTTP/2', 'context', overHttp2],
    ['an upgrade', 'context', () => overHttp1('/v1/proxy/test', UPGRADE)],
    ['a call that is passed through', 'context', () => overHttp1('/v1/services')],
    ['the end of a request of HTTP/1.1', 'record', () => overHttp1('/v1/proxy/test')],
    ['the end of a request of HTTP/2', 'record', overHttp2],
    ['the end of an upgrade', 'record', () => overHttp1('/v1/proxy/test', UPGRADE)],
  ])('in %s', async (_where, part, send) => {
    bug = part;
    await send();
    await eventually(() => expect(lines()).toHaveLength(1));
    bug = undefined;
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ level: 50, side: 'caller' });
    const metrics = await gateway.registry.metrics();
    expect(metrics).toContain('gateway_connections_ended_total{reason="INTERNAL_ERROR"} 1\n');
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));

    await servesOthers();
    expect(lines()).toHaveLength(1);
  });

  it.each<[string, () => Promise<void>]>([
    [
      'the frames that are sent',
      () => {
        throwOnce(Sender.prototype, 'flush');
        return overHttp2();
      },
    ],
    [
      'the check of a connection of HTTP/2',
      () => {
        throwOnce(Connection.prototype, 'check');
        return overHttp2();
      },
    ],
    [
      'the count of the streams that have ended',
      () => {
        throwOnce(Session.prototype, 'ended');
        return overHttp2();
      },
    ],
    [
      'the end of a body of HTTP/2',
      () => {
        throwOnce(WaitingBody.prototype, 'received');
        return overHttp2('/v1/services', 'body');
      },
    ],
    [
      'an error reply over HTTP/1.1',
      () => {
        throwOnce(Http1Exchange.prototype, 'respond');
        return overHttp1('/v1/proxy/test/reset');
      },
    ],
    [
      'an error reply over HTTP/2',
      () => {
        throwOnce(Stream.prototype, 'respond');
        return overHttp2('/v1/proxy/test/reset');
      },
    ],
    [
      'an error reply to a call that is passed through',
      () => {
        throwOnce(Http1Exchange.prototype, 'respond');
        return overHttp1('/v1/services');
      },
    ],
    ['the cancelling of an attempt over HTTP/1.1', () => leaveHttp1(cancelFails)],
    ['the cancelling of an attempt over HTTP/2', () => leaveHttp2(cancelFails)],
    ['the record after the caller of HTTP/1.1 left', () => leaveHttp1(recordFails)],
    ['the records of many streams', () => leaveHttp2(recordFails, 20)],
  ])('in %s', async (_where, send) => {
    await send();
    await eventually(() => expect(lines()).toHaveLength(1));
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    bug = undefined;
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ level: 50, side: 'caller' });
    const metrics = await gateway.registry.metrics();
    expect(metrics).toContain('gateway_connections_ended_total{reason="INTERNAL_ERROR"} 1\n');
    expect(metrics).toContain('gateway_slots_in_use{slots="requests"} 0\n');
    await servesOthers();
    expect(lines()).toHaveLength(1);
  });

  it('in the close of a connection of HTTP/2 does not keep the server from its stop', async () => {
    const session = gateway.connectHttp2();
    session.on('error', () => undefined);
    await http2Call(session, bearer());
    throwOnce(Connection.prototype, 'drain');
    await gateway.stop();
    expect(lines()).toHaveLength(1);
    session.destroy();
  });

  it('and the records of the requests that were in progress do not blame the caller', async () => {
    const session = gateway.connectHttp2();
    session.on('error', () => undefined);
    const request = session.request({ ':path': '/v1/proxy/test/hang', ...bearer() });
    request.on('error', () => undefined).end();
    await hanging();
    throwOnce(Connection.prototype, 'check');
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records).toMatchObject([
      { status: null, outcome: 'rejected', error_code: 'internal_error' },
    ]);
  });

  it('logs the request, if there is one', async () => {
    await leaveHttp1(recordFails);
    await eventually(() => expect(lines()).toHaveLength(1));
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({
      request_id: expect.stringMatching(/^req_/),
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
  });

  it('in the pool of an upstream ends the connection to it, and not that of the caller', async () => {
    const session = gateway.connectHttp2();
    const call = () => http2Call(session, { authorization: `Bearer ${gateway.token}` });
    bug = 'pool';
    expect(await call()).toMatchObject({ status: 200, body: 'ok' });
    bug = undefined;
    expect(lines()).toHaveLength(1);
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ level: 50, side: 'upstream' });
    expect(await call()).toMatchObject({ status: 200, body: 'ok' });
    session.destroy();
  });
});
