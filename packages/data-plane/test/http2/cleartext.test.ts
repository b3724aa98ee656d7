import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPath } from '../data-path.ts';
import { countedConnections } from '../connection-counts.ts';
import { http2Call } from '../http2-call.ts';

let upstream: TestUpstream;
/** Responses to requests for /hold. */
let held: ServerResponse[];
let gateway: TestDataPath;

beforeEach(async () => {
  held = [];
  upstream = await startUpstream(({ url }, response) => {
    if (url.includes('hold')) held.push(response);
    else response.end('ok');
  });
});

afterEach(async () => {
  await gateway.stop();
  await upstream.close();
});

const start = async (environment: Readonly<Record<string, string>>) => {
  gateway = await startTestDataPath({ upstreams: [upstream.url] }, { environment });
};

async function overHttp1(): Promise<number> {
  const connection = await rawConnection(gateway.port);
  const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
  connection.send(requestText({ target: '/v1/proxy/test', lines }));
  const { status } = await connection.response();
  connection.destroy();
  return status;
}

describe('a port without TLS', () => {
  it('serves HTTP/2 with prior knowledge, and HTTP/1.1, if HTTP2_CLEARTEXT is on', async () => {
    await start({ HTTP2_CLEARTEXT: 'on' });
    const session = connect(gateway.url);
    const answer = await http2Call(session, { authorization: `Bearer ${gateway.token}` });
    session.destroy();
    expect(answer).toMatchObject({ status: 200, body: 'ok' });
    expect(upstream.seen[0]?.headers['x-forwarded-proto']).toBe('http');
    expect(await overHttp1()).toBe(200);
    expect(gateway.records).toMatchObject([{ outcome: 'success' }, { outcome: 'success' }]);
  });

  it('refuses the preface like any other version of HTTP by default', async () => {
    await start({});
    const connection = await rawConnection(gateway.port);
    connection.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    expect((await connection.response()).status).toBe(505);
    expect(await overHttp1()).toBe(200);
    connection.destroy();
  });

  it('closes a connection that has sent nothing when a drain begins, like any idle one', async () => {
    await start({ HTTP2_CLEARTEXT: 'on', DRAIN_TIMEOUT_MS: '300000' });
    const silent = connectSocket(gateway.port, '127.0.0.1').resume();
    await once(silent, 'connect');
    const busy = connect(gateway.url);
    const answer = http2Call(busy, {
      ':path': '/v1/proxy/test/hold',
      authorization: `Bearer ${gateway.token}`,
    });
    await eventually(() => expect(held).toHaveLength(1));
    const stopping = gateway.stop();
    await once(silent, 'close');
    held[0]?.end('held');
    expect(await answer).toMatchObject({ status: 200 });
    await stopping;
    const { unanswered } = await countedConnections(gateway.registry);
    expect(unanswered).toEqual({ drained: 1 });
  });
});
