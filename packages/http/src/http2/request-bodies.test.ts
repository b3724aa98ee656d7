import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { data, get, post, reset } from '../../test/http2-frames.ts';
import { collect, echo, serveHttp2EachTest } from '../../test/http2-world.ts';
import type { ServerExchange } from '../exchange.ts';
import { ERROR, FLAG, FRAME } from './protocol.ts';

const world = serveHttp2EachTest();

describe('a body of a request', () => {
  it('that nobody reads gets no further window, and its siblings do', async () => {
    const held: ServerExchange[] = [];
    world.onExchange = (exchange) => {
      if (exchange.head.fields.includes('x-held')) held.push(exchange);
      else echo(exchange);
    };
    const client = await world.connect();
    const part = Buffer.alloc(16_000, 'x');
    const parts = (count: number, stream: number) =>
      Array.from({ length: count }, () => data(part, 0, stream));
    client.send(post(1, [['x-held', '1']]), ...parts(49, 1));
    await client.settled();
    expect(client.of(FRAME.windowUpdate, 1)).toEqual([]);
    client.send(post(3));
    // Ten times as much as the window of the connection still allows.
    for (let round = 0; round < 10; round += 1) {
      client.send(...parts(16, 3));
      await client.settled();
    }
    client.send(data('', FLAG.endStream, 3));
    await client.frame(FRAME.headers, 3);
    expect(client.of(FRAME.windowUpdate, 1)).toEqual([]);
    const [exchange] = held;
    if (exchange === undefined) throw new Error('no request');
    const body = collect(exchange.body);
    await client.frame(FRAME.windowUpdate, 1);
    client.send(data('end', FLAG.endStream));
    expect(await body).toHaveLength(784_003);
  });

  it('that pauses keeps its order, and passes on all of it', async () => {
    const held = world.holdAll();
    const client = await world.connect();
    client.send(post(), data('0'));
    await eventually(() => expect(held).toHaveLength(1));
    const body = held[0]?.body;
    let text = '';
    let ended = false;
    body?.start({
      data(bytes, last) {
        text += bytes.toString('latin1');
        ended = last;
        body.pause();
      },
      failed: () => undefined,
    });
    for (let part = 1; part < 10; part += 1) client.send(data(String(part)));
    client.send(data('', FLAG.endStream));
    await client.settled();
    expect([text, ended]).toEqual(['0', false]);
    for (let round = 0; round < 12; round += 1) body?.resume();
    expect([text, ended]).toEqual(['0123456789', true]);
  });

  it('that is reset fails, and is not complete', async () => {
    const held = world.holdAll();
    const client = await world.connect();
    client.send(post(), data('part'));
    await eventually(() => expect(held).toHaveLength(1));
    const body = held[0]?.body;
    const collected = body === undefined ? undefined : collect(body);
    client.send(reset(ERROR.noError));
    await expect(collected).rejects.toThrow('peer_left');
    expect(world.seen[0]?.end).toBe('peer_left');
  });

  it('is not wanted after the response: the stream is reset without an error', async () => {
    world.onExchange = (exchange) => {
      exchange.respond(413, '', [], true);
    };
    const client = await world.connect();
    client.send(post(), data('part'));
    await client.ended();
    await eventually(() => expect(client.resets()).toEqual([[1, ERROR.noError]]));
    client.send(data('late'), get(3));
    await client.ended(3);
    expect([world.seen[0]?.end, world.ended]).toEqual(['complete', []]);
  });
});
