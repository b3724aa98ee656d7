import { connect } from 'node:http2';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPath } from '../data-path.ts';
import { http2Call } from '../http2-call.ts';

let upstream: TestUpstream;
let gateway: TestDataPath;

beforeEach(async () => {
  upstream = await startUpstream((_seen, response) => response.end('ok'));
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
});
