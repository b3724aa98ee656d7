import { constants, type ServerHttp2Stream } from 'node:http2';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { answer as responseHead } from '../../../test/http2-client-world.ts';
import { Caller, tunnelEachTest, type Answer } from '../../../test/tunnel-world.ts';
import { FLAG, FRAME, SETTING } from '../protocol.ts';

const echo: Answer = (stream) => {
  stream.respond({ ':status': 200 });
  stream.pipe(stream);
};
const tunnels = tunnelEachTest(echo);
const { world, open, upgrade, tunnel } = tunnels;

const receives = (one: { body: Buffer }, text: string) =>
  eventually(() => expect(one.body.toString()).toBe(text), { intervalMs: 1 });

describe('the tunnel of a WebSocket over HTTP/2', () => {
  it('carries bytes both ways until both sides have ended', async () => {
    const connection = await open();
    const { exchange, caller } = await tunnel(connection);
    caller.send('hello');
    await receives(exchange, 'hello');
    caller.send(' again', true);
    expect(await exchange.ended()).toBe('complete');
    expect(exchange.body.toString()).toBe('hello again');
    await eventually(() => expect(connection.carried).toBe(0), { intervalMs: 1 });
  });

  it('that the server ends first takes bytes of this end until it ends too', async () => {
    let received = '';
    let code: number | undefined;
    tunnels.answer = (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('bye');
      stream.on('data', (bytes: Buffer) => (received += bytes.toString()));
      stream.on('close', () => (code = stream.rstCode));
    };
    const connection = await open();
    const { exchange, caller } = await tunnel(connection);
    expect(await exchange.ended()).toBe('complete');
    expect(exchange.body.toString()).toBe('bye');
    expect(connection.carried).toBe(1);
    caller.send('the rest', true);
    await eventually(() => expect(code).toBe(constants.NGHTTP2_NO_ERROR), { intervalMs: 1 });
    expect(received).toBe('the rest');
    expect(connection.carried).toBe(0);
  });

  it('that opens and ends at once is complete', async () => {
    tunnels.answer = (stream) => {
      stream.respond({ ':status': 200 }, { endStream: true });
    };
    const exchange = upgrade(await open());
    expect(await exchange.ended()).toBe('complete');
    expect(exchange.calls.slice(0, 2)).toEqual(['head', 'data, last']);
  });

  it('that this end leaves after the server has ended is closed without an error', async () => {
    let code: number | undefined;
    tunnels.answer = (stream) => {
      stream.respond({ ':status': 200 });
      stream.end();
      stream.on('close', () => (code = stream.rstCode));
    };
    const connection = await open();
    const { exchange, caller } = await tunnel(connection);
    await exchange.ended();
    exchange.stream?.cancel();
    await eventually(() => expect(code).toBe(constants.NGHTTP2_NO_ERROR), { intervalMs: 1 });
    expect(caller.isDiscarded).toBe(true);
    expect(connection.carried).toBe(0);
  });

  it('that the server resets is broken, and the others on its connection are not', async () => {
    const streams: ServerHttp2Stream[] = [];
    tunnels.answer = (stream, headers) => {
      streams.push(stream);
      echo(stream, headers);
    };
    const connection = await open();
    const broken = await tunnel(connection);
    const other = await tunnel(connection);
    streams[0]?.destroy(new Error('broken'));
    expect(await broken.exchange.ended()).toEqual(['reset', true]);
    expect(broken.caller.isDiscarded).toBe(true);
    const late = new Caller();
    broken.exchange.stream?.sendBytes(late);
    expect(late.isDiscarded).toBe(true);
    other.caller.send('on');
    await receives(other.exchange, 'on');
  });

  it('whose caller breaks off is reset with CANCEL', async () => {
    let code: number | undefined;
    tunnels.answer = (stream) => {
      stream.respond({ ':status': 200 });
      stream.on('close', () => (code = stream.rstCode));
    };
    const { exchange, caller } = await tunnel(await open());
    caller.sink?.failed('peer_left');
    expect(await exchange.ended()).toEqual(['request_body', true]);
    await eventually(() => expect(code).toBe(constants.NGHTTP2_CANCEL), { intervalMs: 1 });
  });

  it('has no trailers: a second head resets it', async () => {
    const { connection, peer } = await world.connect([SETTING.enableConnectProtocol, 1]);
    const exchange = upgrade(connection);
    await peer.frame(FRAME.headers, 1);
    peer.send(responseHead(1), responseHead(1, FLAG.endHeaders | FLAG.endStream));
    expect(await exchange.ended()).toEqual(['invalid_response', true]);
    expect((await peer.frame(FRAME.rstStream, 1)).payload.readUInt32BE(0)).toBe(
      constants.NGHTTP2_PROTOCOL_ERROR,
    );
  });

  it('does not count a length that the server announces', async () => {
    tunnels.answer = (stream) => {
      stream.respond({ ':status': 200, 'content-length': 1 });
      stream.end('more than one');
    };
    const exchange = upgrade(await open());
    expect(await exchange.ended()).toBe('complete');
    expect(exchange.body.toString()).toBe('more than one');
  });

  it('shares its connection with many others and with requests, whoever of them does not read', async () => {
    tunnels.answer = (stream, headers) => {
      if (headers[':method'] === 'CONNECT') echo(stream, headers);
      else {
        stream.respond({ ':status': 200 });
        stream.end('plain');
      }
    };
    const connection = await open();
    const slow = await tunnel(connection);
    slow.exchange.stream?.pause();
    // More than all that fits between the caller and the one that does not read.
    slow.caller.resumed = () => {
      while (!slow.caller.isPaused) slow.caller.send('x'.repeat(50_000));
    };
    slow.caller.resumed();
    const others = await Promise.all(Array.from({ length: 50 }, () => tunnel(connection)));
    const requests = Array.from({ length: 40 }, () => world.send(connection));
    for (const [index, { caller }] of others.entries()) caller.send(`message ${index}`);
    for (const request of requests) expect(await request.ended()).toBe('complete');
    for (const [index, { exchange, caller }] of others.entries()) {
      await receives(exchange, `message ${index}`);
      caller.send('', true);
      expect(await exchange.ended()).toBe('complete');
    }
    expect(slow.caller.isPaused).toBe(true);
    expect(slow.exchange.body).toHaveLength(0);
    await eventually(() => expect(connection.carried).toBe(1), { intervalMs: 1 });
    expect(tunnels.sessions).toHaveLength(1);
  });
});
