import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startUpstream } from '@gateway/shared/test/upstream';
import { http2Answer, http2Call } from '../http2-call.ts';
import { startSecureDataPath } from '../secure-data-path.ts';

const opened = closeAfterEach();
const MAX_STREAM_ID = 2 ** 31 - 1;

async function setUp(graceMs: number, timeoutMs: number) {
  const held: ServerResponse[] = [];
  const upstream = opened(
    await startUpstream((seen, response) => {
      if (seen.url.includes('hold')) held.push(response);
      else response.end('ok');
    }),
  );
  const environment = { DRAIN_GRACE_MS: String(graceMs), DRAIN_TIMEOUT_MS: String(timeoutMs) };
  const gateway = opened(
    await startSecureDataPath({ upstreams: [upstream.url], timeout_ms: 60_000 }, { environment }),
  );
  const connect = () => {
    const session = gateway.connectHttp2();
    const goAways: (readonly [code: number, lastStream: number])[] = [];
    session.on('goaway', (code, lastStream) => void goAways.push([code, lastStream]));
    session.on('error', () => undefined);
    opened({
      destroy: () => {
        session.destroy();
      },
    });
    const send = (target: string) => {
      const fields = {
        ':path': `/v1/proxy/test${target}`,
        authorization: `Bearer ${gateway.token}`,
      };
      return http2Call(session, fields);
    };
    return { session, goAways, send };
  };
  return { gateway, held, connect };
}

describe('a drain of HTTP/2', () => {
  it('closes an idle connection with GOAWAY that names its last stream', async () => {
    const { gateway, connect } = await setUp(0, 20_000);
    const { session, goAways, send } = connect();
    await send('');
    const closed = once(session, 'close');
    await gateway.stop();
    await closed;
    expect(goAways).toEqual([[0, 1]]);
  });

  it('answers every request of a connection until it has none, and then closes it', async () => {
    const { gateway, held, connect } = await setUp(0, 60_000);
    const [busy, idle] = [connect(), connect()];
    const first = busy.send('/hold');
    await idle.send('');
    await eventually(() => expect(held).toHaveLength(1));
    const stopping = gateway.stop();
    await once(idle.session, 'close');
    // The drain has begun, and a client that was not asked to go elsewhere is served.
    for (let count = 0; count < 3; count += 1) {
      expect(await busy.send('')).toMatchObject({ status: 200, body: 'ok' });
    }
    expect(busy.goAways).toEqual([]);
    held[0]?.end('held');
    expect(await first).toMatchObject({ status: 200, body: 'held', complete: true });
    await stopping;
    expect(busy.goAways).toEqual([[0, 7]]);
  });

  it('closes a connection whose handshake comes in the drain when no request is left', async () => {
    const { gateway, held, connect } = await setUp(0, 300_000);
    const { authority, port, url } = gateway;
    const socket = opened(connectSocket(port, '127.0.0.1'));
    await once(socket, 'connect');
    const [busy, idle] = [connect(), connect()];
    const answer = busy.send('/hold');
    await idle.send('');
    await eventually(() => expect(held).toHaveLength(1));
    const stopping = gateway.stop();
    await once(idle.session, 'close');
    const tls = connectTls({
      socket,
      host: '127.0.0.1',
      ca: authority.certPem,
      ALPNProtocols: ['h2'],
    });
    const late = connectHttp2(url, { createConnection: () => tls });
    await once(late, 'remoteSettings');
    held[0]?.end('held');
    expect(await answer).toMatchObject({ status: 200 });
    await stopping;
    await eventually(() => expect(late.closed).toBe(true));
  });

  it('asks a client that always has requests to open no more, when half of the time has passed', async () => {
    const { gateway, held, connect } = await setUp(0, 3_000);
    const { session, goAways, send } = connect();
    const first = send('/hold');
    await eventually(() => expect(held).toHaveLength(1));
    const startedMs = performance.now();
    const stopping = gateway.stop();
    await eventually(() => expect(goAways).toHaveLength(2));
    expect(performance.now() - startedMs).toBeGreaterThan(1_400);
    // The second one comes after the client has answered a ping: it knows of the first.
    expect(goAways).toEqual([
      [0, MAX_STREAM_ID],
      [0, 1],
    ]);
    held[0]?.end('held');
    expect(await first).toMatchObject({ status: 200, body: 'held', complete: true });
    await stopping;
    expect(session.closed).toBe(true);
  });

  it('ends within its timeout, and the records name it as the cause', async () => {
    const { gateway, held, connect } = await setUp(0, 300);
    const { session } = connect();
    const fields = { ':path': '/v1/proxy/test/hold', authorization: `Bearer ${gateway.token}` };
    const answer = http2Answer(session.request(fields));
    await eventually(() => expect(held).toHaveLength(1));
    await gateway.stop();
    expect(await answer).toMatchObject({ status: 0 });
    expect(gateway.records).toMatchObject([
      { status: null, outcome: 'rejected', error_code: 'gateway_stopping' },
    ]);
  });
});
