import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import { requestText } from '@gateway/shared/test/raw-client';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { http2Call } from '../../test/http2-call.ts';
import { startSecureDataPath, type SecureDataPath } from '../../test/secure-data-path.ts';

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
  upstream = await startUpstream();
  const clock = {
    ...systemClock,
    nowMs() {
      failIn('context');
      return systemClock.nowMs();
    },
    monotonicMs() {
      if (bug === 'pool' && new Error().stack?.includes('connection-pool.ts') === true) {
        failIn('pool');
      }
      return systemClock.monotonicMs();
    },
  };
  const onRecord = () => failIn('record');
  gateway = await startSecureDataPath({ upstreams: [upstream.url] }, { clock, onRecord });
});

afterEach(async () => {
  bug = undefined;
  await gateway.stop();
  await upstream.close();
});

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

async function overHttp2(): Promise<void> {
  const session = gateway.connectHttp2();
  session.on('error', () => undefined);
  const closed = once(session, 'close');
  await http2Call(session, { authorization: `Bearer ${gateway.token}` });
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
    const lines = () =>
      gateway.logLines.filter((line) => line.includes('connection failed unexpectedly'));
    await eventually(() => expect(lines()).toHaveLength(1));
    bug = undefined;
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ level: 50, side: 'caller' });
    const metrics = await gateway.registry.metrics();
    expect(metrics).toContain('gateway_connections_ended_total{reason="INTERNAL_ERROR"} 1\n');
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));

    const session = gateway.connectHttp2();
    const answer = await http2Call(session, { authorization: `Bearer ${gateway.token}` });
    session.destroy();
    expect(answer).toMatchObject({ status: 200, body: 'ok' });
    expect(lines()).toHaveLength(1);
  });

  it('in the pool of an upstream ends the connection to it, and not that of the caller', async () => {
    const session = gateway.connectHttp2();
    const call = () => http2Call(session, { authorization: `Bearer ${gateway.token}` });
    bug = 'pool';
    expect(await call()).toMatchObject({ status: 200, body: 'ok' });
    bug = undefined;
    const lines = gateway.logLines.filter((line) =>
      line.includes('connection failed unexpectedly'),
    );
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 50, side: 'upstream' });
    expect(await call()).toMatchObject({ status: 200, body: 'ok' });
    session.destroy();
  });
});
