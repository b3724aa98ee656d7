import type { IncomingHttpHeaders } from 'node:http2';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { answer as responseHead } from '../../../test/http2-client-world.ts';
import { frame, settings } from '../../../test/http2-frames.ts';
import { KEY, tunnelEachTest } from '../../../test/tunnel-world.ts';
import { ForwardedFields } from '../../message/message-writer.ts';
import { FLAG, FRAME, SETTING } from '../protocol.ts';

/** That of the key in the example of RFC 6455 section 1.3. */
const PROOF = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';

const tunnels = tunnelEachTest((stream) => {
  stream.respond({ ':status': 200 });
});
const { world, open, upgrade, tunnel } = tunnels;

describe('a WebSocket handshake over HTTP/2 (RFC 8441)', () => {
  it('is an extended CONNECT, and its response looks as over HTTP/1.1', async () => {
    let seen: IncomingHttpHeaders | undefined;
    tunnels.answer = (stream, headers) => {
      seen = headers;
      stream.respond({ ':status': 200, 'sec-websocket-protocol': 'chat', 'x-a': 'b' });
    };
    const exchange = world.send(await open(), {
      path: '/chat?a=b',
      upgrade: 'websocket',
      takesTrailers: true,
      passed: [new ForwardedFields(['sec-websocket-key', KEY, 'Connection', 'Upgrade'])],
      fields: ['Upgrade', 'websocket', 'Sec-WebSocket-Version', '13', 'Origin', 'https://a.test'],
    });
    await eventually(() => expect(exchange.response).toBeDefined(), { intervalMs: 1 });
    expect(Object.fromEntries(Object.entries(seen ?? {}))).toEqual({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'http',
      ':authority': 'a.test',
      ':path': '/chat?a=b',
      'sec-websocket-version': '13',
      origin: 'https://a.test',
    });
    const { status, fields = [] } = exchange.response ?? {};
    expect(status).toBe(101);
    expect(fields.join()).toContain('sec-websocket-protocol,chat');
    expect(fields.join()).toContain(`sec-websocket-accept,${PROOF}`);
  });

  it('has only the proof that this end makes', async () => {
    tunnels.answer = (stream) => {
      stream.respond({ ':status': 200, 'sec-websocket-accept': 'another' });
    };
    const { exchange } = await tunnel(await open());
    expect(exchange.response?.fields.join()).not.toContain('another');
  });

  it('that is refused has an ordinary response', async () => {
    tunnels.answer = (stream) => {
      stream.respond({ ':status': 403, 'x-why': 'closed' });
      stream.end('refused');
    };
    const connection = await open();
    const exchange = upgrade(connection);
    expect(await exchange.ended()).toBe('complete');
    expect(exchange.response).toMatchObject({ status: 403 });
    expect(exchange.body.toString()).toBe('refused');
    await eventually(() => expect(connection.carried).toBe(0), { intervalMs: 1 });
  });

  it('to a server that does not offer it is not sent, and the connection stays', async () => {
    await tunnels.listen(false);
    tunnels.answer = (stream) => {
      stream.respond({ ':status': 204 }, { endStream: true });
    };
    const connection = await open();
    const early = upgrade(connection);
    expect(await early.ended()).toEqual(['connect_not_offered', false]);
    expect(upgrade(connection).end).toEqual(['connect_not_offered', false]);
    expect(await world.send(connection).ended()).toBe('complete');
    expect(connection.carried).toBe(0);
  });

  it('waits for the settings of the server, which other requests do not', async () => {
    const { connection, peer } = await world.connectSilently();
    const waiting = upgrade(connection);
    const cancelled = upgrade(connection);
    world.send(connection, { path: '/plain' });
    expect(peer.fields(await peer.frame(FRAME.headers, 1))).toMatchObject({ ':path': '/plain' });
    cancelled.stream?.cancel();
    peer.send(settings([SETTING.enableConnectProtocol, 1]), frame(FRAME.settings, FLAG.ack, 0));
    expect(peer.fields(await peer.frame(FRAME.headers, 3))).toMatchObject({
      ':method': 'CONNECT',
    });
    expect(connection.carried).toBe(2);
    peer.send(responseHead(3));
    await eventually(() => expect(waiting.response?.status).toBe(101), { intervalMs: 1 });
    expect(cancelled.calls).toEqual([]);
  });

  it('was not sent if the connection breaks before the settings', async () => {
    const { connection, peer } = await world.connectSilently();
    const exchange = upgrade(connection);
    peer.socket.destroy();
    expect(await exchange.ended()).toEqual(['reset', false]);
  });
});
