import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import {
  data,
  fieldBlock,
  frame,
  get,
  HEAD,
  post,
  PREFACE,
  pseudo,
  reset,
  settings,
  windowUpdate,
  type FrameClient,
} from '../../test/http2-frames.ts';
import { collect, echo, LIMITS, serveHttp2EachTest } from '../../test/http2-world.ts';
import type { ServerExchange } from '../exchange.ts';
import { Sender } from './sender.ts';
import type { Stream } from './stream.ts';
import { READ_BUFFER, readBytes, type TakeBytes } from '../message/read-buffer.ts';
import { ERROR, FIRST_WINDOW, FLAG, FRAME, MAX_WINDOW, SETTING } from './protocol.ts';

const world = serveHttp2EachTest();

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

const codes = (client: FrameClient) =>
  client.of(FRAME.rstStream).map(({ payload, stream }) => [stream, payload.readUInt32BE(0)]);

const status = (client: FrameClient, stream = 1) => {
  const [head] = client.of(FRAME.headers, stream);
  return head === undefined ? undefined : client.fields(head)[':status'];
};

/** Keeps exchanges; a test answers them. */
function holdAll(): ServerExchange[] {
  const held: ServerExchange[] = [];
  world.onExchange = (exchange) => void held.push(exchange);
  return held;
}

/** A connection whose socket takes what is written when `write` calls its argument. `receive` brings it bytes. */
function acceptStream(write: (done: () => void) => void) {
  const socket = new Duplex({
    read: () => undefined,
    write: (_bytes, _encoding, done) => {
      write(done);
    },
  });
  socket.resume();
  let take: TakeBytes | undefined;
  const readBy = (next: TakeBytes) => void (take = next);
  world.server.accept({ socket: socket as Socket, address: '', readBy }, () => undefined);
  return { socket, receive: (bytes: Buffer) => take?.(bytes) };
}

describe('a request', () => {
  it('has the fields that HTTP/1.1 would have', async () => {
    const held = holdAll();
    const client = await world.connect();
    client.send(
      post(1, [
        ['cookie', 'a=1'],
        ['host', 'gateway.test'],
        ['x-own', 'v'],
        ['cookie', 'b=2'],
        ['te', 'trailers'],
        ['http2-settings', 'x'],
        ['content-length', '4'],
      ]),
    );
    await eventually(() => expect(held).toHaveLength(1));
    expect(held[0]?.head).toEqual({
      method: 'POST',
      url: '/',
      httpVersion: '2.0',
      fields: [
        ...['host', 'gateway.test', 'x-own', 'v', 'te', 'trailers'],
        ...['content-length', '4', 'cookie', 'a=1; b=2'],
      ],
      framing: { kind: 'length', bytes: 4 },
      keepAlive: true,
      upgrade: undefined,
    });
  });

  it.each<[string, Buffer]>([
    ['by its caller', reset()],
    ['by this end', windowUpdate(0)],
  ])('that is reset in the read that has opened it reaches no handler: %s', async (_by, after) => {
    const client = await world.connect();
    client.send(post(), after, get(3));
    await client.ended(3);
    expect(world.seen).toHaveLength(1);
  });

  it('is handled once all of its read was read, so that a small body is there', async () => {
    let whole: unknown;
    world.onExchange = (exchange) => {
      whole = exchange.body.takeWhole(100);
      exchange.respond(200, '', [], true);
    };
    const client = await world.connect();
    client.send(post(), data('a'), data('b', FLAG.endStream));
    await client.ended();
    expect(String(whole)).toBe('ab');
    expect(codes(client)).toEqual([]);
  });

  it.each<[string, string, Buffer]>([
    [
      'header_overflow',
      'too many fields',
      get(
        1,
        Array.from({ length: 70 }, () => ['a', 'b']),
      ),
    ],
    ['header_overflow', 'too large fields', get(1, [['x-large', 'x'.repeat(5000)]])],
    [
      'target_overflow',
      'too long a path',
      frame(FRAME.headers, HEAD, 1, fieldBlock(pseudo('GET', `/${'a'.repeat(5000)}`))),
    ],
    [
      'malformed_head',
      'bytes above ASCII',
      frame(FRAME.headers, HEAD, 1, fieldBlock(pseudo('GET', '/\xe9'))),
    ],
  ])('is refused with a response: %s for %s', async (reason, _what, request) => {
    const client = await world.connect();
    client.send(request, get(3));
    expect(await client.body()).toBe('no\n');
    await client.ended(3);
    expect(status(client)).toBe('431');
    expect(world.refused).toEqual([reason]);
    expect(world.seen).toHaveLength(1);
  });

  it.each([
    ['asks for 100', [['expect', '100-continue']] as const],
    ['does not', []],
  ])('that %s gets no 100 unless its handler sends one', async (_what, fields) => {
    const client = await world.connect();
    client.send(post(1, fields), data('part'));
    await client.settled();
    client.send(data('end', FLAG.endStream));
    expect(await client.body()).toBe('partend');
    expect(client.of(FRAME.headers, 1)).toHaveLength(1);
    expect(status(client)).toBe('200');
  });

  it('has trailers after its body', async () => {
    const held = holdAll();
    const client = await world.connect();
    const trailers = frame(FRAME.headers, HEAD, 1, fieldBlock([['x-sum', '7']]));
    client.send(post(), data('body'), trailers);
    await eventually(() => expect(held).toHaveLength(1));
    const stream = held[0] as Stream;
    expect((await collect(stream.body)).toString()).toBe('body');
    expect(stream.requestTrailers).toEqual(['x-sum', '7']);
  });
});

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
    // Ten times what is left of the window of the connection.
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
    const held = holdAll();
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
    const held = holdAll();
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
    await eventually(() => expect(codes(client)).toEqual([[1, ERROR.noError]]));
    client.send(data('late'), get(3));
    await client.ended(3);
    expect([world.seen[0]?.end, world.ended]).toEqual(['complete', []]);
  });
});

describe('a response', () => {
  it.each([
    [204, 'GET'],
    [304, 'GET'],
    [205, 'GET'],
    [200, 'HEAD'],
  ])('with the status %i to %s has no body', async (code, method) => {
    world.onExchange = (exchange) => {
      exchange.respond(code, '', ['Content-Length', '4', 'Connection', 'close'], false);
      exchange.send('body', true);
    };
    const client = await world.connect();
    client.send(frame(FRAME.headers, HEAD, 1, fieldBlock(pseudo(method))));
    expect(await client.body()).toBe('');
    const [head] = client.of(FRAME.headers, 1);
    const length = code === 205 ? {} : { 'content-length': '4' };
    expect(head === undefined ? {} : client.fields(head)).toEqual({
      ':status': String(code),
      date: expect.stringMatching(/ GMT$/),
      ...length,
    });
  });

  it('with a control character in a value is not sent', async () => {
    const errors: unknown[] = [];
    const fields = ['x-a', 'a\r\nx-b: c'];
    world.onExchange = (exchange) => {
      const sends = [
        () => exchange.sendInterim(103, fields),
        () => exchange.respond(200, '', fields, true),
      ];
      for (const send of sends) {
        try {
          send();
        } catch (error) {
          errors.push(error);
        }
      }
      exchange.respond(502, '', [], true);
    };
    const client = await world.connect();
    client.send(get());
    await client.ended();
    expect([status(client), errors.length]).toEqual(['502', 2]);
  });

  it('keeps bytes that the next read overwrites', async () => {
    const client = await world.connect([SETTING.initialWindowSize, 10]);
    const held = holdAll();
    client.send(get());
    await eventually(() => expect(held).toHaveLength(1));
    held[0]?.respond(200, '', [], false);
    for (const letter of ['a', 'b', 'c']) {
      READ_BUFFER.fill(letter, 0, 20);
      held[0]?.send(readBytes(20), letter === 'c');
    }
    READ_BUFFER.fill('z', 0, 20);
    client.send(windowUpdate(1000));
    expect(await client.body()).toBe('a'.repeat(20) + 'b'.repeat(20) + 'c'.repeat(20));
  });

  it('that is aborted does not look complete', async () => {
    world.onExchange = (exchange) => {
      exchange.respond(200, '', [], false);
      exchange.send('part', false);
      setImmediate(() => exchange.abort('cut_short'));
    };
    const client = await world.connect();
    client.send(get());
    await client.frame(FRAME.rstStream, 1);
    expect(codes(client)).toEqual([[1, ERROR.internalError]]);
    expect(client.of(FRAME.data, 1).some(({ flags }) => flags === FLAG.endStream)).toBe(false);
    expect(world.seen[0]?.end).toBe('cut_short');
  });

  it('has no hints that the caller does not read, but a 100, for which it waits', async () => {
    const hint = ['x-a', 'x'.repeat(10_000)];
    let hints = 0;
    let continued = false;
    // All in one turn, in which nothing is read: more than the sockets hold.
    world.onExchange = (exchange) => {
      while (hints < 5000 && exchange.sendInterim(103, hint)) hints += 1;
      continued = exchange.sendInterim(100, []);
      exchange.respond(200, '', [], true);
      exchange.sendInterim(100, []);
    };
    const client = await world.connect();
    client.send(get());
    await client.ended();
    expect([hints < 5000, continued]).toEqual([true, true]);
    const statuses = client.of(FRAME.headers, 1).map((head) => client.fields(head)[':status']);
    const expected = [...Array.from({ length: hints }, () => '103'), '100', '200'];
    expect(statuses).toEqual(expected);
  });

  it('is complete only when the system has taken it', async () => {
    world.onExchange = (exchange) => {
      exchange.respond(200, '', [], false);
      exchange.send(Buffer.alloc(8_000_000, 'x'), true);
    };
    const client = await world.connect([SETTING.initialWindowSize, 2 ** 31 - 1]);
    client.send(windowUpdate(2 ** 30, 0));
    client.socket.pause();
    client.send(get());
    await eventually(() => expect(world.seen).toHaveLength(1));
    client.destroy();
    await eventually(() => expect(world.seen[0]?.end).toBe('peer_left'));
  });

  it('tells its handler when the caller takes more', async () => {
    const held = holdAll();
    const client = await world.connect();
    client.send(get());
    await eventually(() => expect(held).toHaveLength(1));
    const [exchange] = held;
    if (exchange === undefined) throw new Error('no request');
    let left = 40;
    const part = Buffer.alloc(10_000, 'x');
    const pump = () => {
      while (left > 0) {
        left -= 1;
        if (!exchange.send(part, left === 0)) return;
      }
    };
    exchange.handler = { writable: pump, closed: () => undefined };
    exchange.respond(200, '', [], false);
    pump();
    expect(left).toBeGreaterThan(20);
    client.send(windowUpdate(1_000_000), windowUpdate(1_000_000, 0));
    expect(await client.body()).toHaveLength(400_000);
  });

  it('tells its handler before all of it was sent, so that the caller need not wait', async () => {
    const held = holdAll();
    const client = await world.connect([SETTING.initialWindowSize, 0]);
    client.send(get());
    await eventually(() => expect(held).toHaveLength(1));
    const [exchange] = held;
    if (exchange === undefined) throw new Error('no request');
    let told = 0;
    exchange.handler = { writable: () => void (told += 1), closed: () => undefined };
    exchange.respond(200, '', [], false);
    expect(exchange.send(Buffer.alloc(70_000), false)).toBe(false);
    client.send(windowUpdate(50_000));
    await client.settled();
    expect(told).toBe(0);
    client.send(windowUpdate(10_000));
    await client.settled();
    expect(told).toBe(1);
  });

  it('shares the connection with others by turns of one frame', async () => {
    const held = holdAll();
    const client = await world.connect([SETTING.initialWindowSize, 1_000_000]);
    client.send(windowUpdate(10_000_000, 0), get(1), get(3), get(5));
    await eventually(() => expect(held).toHaveLength(3));
    for (const exchange of held) {
      exchange.respond(200, '', [], false);
      exchange.send(Buffer.alloc(160_000, 'x'), true);
    }
    await Promise.all([client.ended(1), client.ended(3), client.ended(5)]);
    const order = client.of(FRAME.data).map(({ stream }) => stream);
    // Whatever was sent, no stream was more than two turns ahead of another.
    for (let end = 1; end < 24; end += 1) {
      const turns = [1, 3, 5].map((id) => order.slice(0, end).filter((one) => one === id).length);
      expect(Math.max(...turns) - Math.min(...turns)).toBeLessThanOrEqual(2);
    }
  });

  it('may be given back exactly, also by a caller with the largest window', async () => {
    world.onExchange = (exchange) => {
      exchange.respond(200, '', [], false);
      exchange.send(Buffer.alloc(3_000_000, 'x'), true);
    };
    const client = await world.connect([SETTING.initialWindowSize, MAX_WINDOW]);
    client.send(windowUpdate(MAX_WINDOW - FIRST_WINDOW, 0), get());
    for (let read = 0, received = 0; received < 3_000_000;) {
      await eventually(() => expect(client.of(FRAME.data, 1).length).toBeGreaterThan(read));
      for (const { flags, payload } of client.of(FRAME.data, 1).slice(read)) {
        read += 1;
        received += payload.length;
        if (flags === 0) client.send(windowUpdate(payload.length));
        client.send(windowUpdate(payload.length, 0));
      }
    }
    await client.settled();
    expect([codes(client), client.of(FRAME.goAway)]).toEqual([[], []]);
  });

  it('never exceeds a window that shrinks and grows', async () => {
    const client = await world.connect([SETTING.initialWindowSize, 100]);
    world.onExchange = (exchange) => {
      exchange.respond(200, '', [], false);
      exchange.send('x'.repeat(1000), true);
    };
    client.send(get());
    await client.frame(FRAME.data, 1);
    client.send(settings([SETTING.initialWindowSize, 0]), windowUpdate(99));
    await client.settled();
    const sent = () => client.of(FRAME.data, 1).reduce((sum, one) => sum + one.payload.length, 0);
    expect(sent()).toBe(100);
    client.send(windowUpdate(2));
    await eventually(() => expect(sent()).toBe(101));
    client.send(settings([SETTING.initialWindowSize, 1000]));
    expect(await client.body()).toHaveLength(1000);
  });

  it('ends also while its window is negative', async () => {
    const held = holdAll();
    const client = await world.connect([SETTING.initialWindowSize, 100]);
    client.send(get());
    await eventually(() => expect(held).toHaveLength(1));
    held[0]?.respond(200, '', [], false);
    held[0]?.send('x'.repeat(100), false);
    await client.frame(FRAME.data, 1);
    client.send(settings([SETTING.initialWindowSize, 50]));
    await client.settled();
    held[0]?.send('', true);
    expect(await client.body()).toHaveLength(100);
    await client.settled();
    await eventually(() => expect(world.seen[0]?.end).toBe('complete'));
  });

  it('is complete when the system has taken it, although others keep the socket full', async () => {
    const part = Buffer.alloc(100_000, 'x');
    world.onExchange = (exchange) => {
      exchange.respond(200, '', [], false);
      const send = () => {
        while (exchange.send(part, false));
      };
      if (exchange.head.method === 'GET') exchange.send('small', true);
      else send();
      exchange.handler = { ...exchange.handler, writable: send };
    };
    // The system takes a write when the test says so.
    const taken: (() => void)[] = [];
    const { receive } = acceptStream((done) => void taken.push(done));
    const window = settings([SETTING.initialWindowSize, 2 ** 30]);
    receive(Buffer.concat([PREFACE, window, windowUpdate(2 ** 30, 0), post(1), get(3)]));
    await eventually(() => {
      taken.shift()?.();
      expect(world.seen[1]?.end).toBe('complete');
    });
    expect(world.seen[0]?.end).toBeUndefined();
  });

  it('is complete if the caller has taken it and leaves before this is reported', async () => {
    world.onExchange = (exchange) => {
      exchange.respond(204, '', [], true);
    };
    const { socket, receive } = acceptStream((done) => {
      setImmediate(done);
      socket.push(null);
    });
    receive(Buffer.concat([PREFACE, settings(), get()]));
    await eventually(() => expect(world.seen[0]?.end).toBe('complete'));
    await eventually(() => expect(socket.destroyed).toBe(true));
  });

  it('follows a table that the caller empties and enlarges in one frame', async () => {
    const client = await world.connect();
    client.send(get());
    await client.ended();
    const table = SETTING.headerTableSize;
    client.send(settings([table, 0], [table, 4096]), get(3));
    await client.ended(3);
    const [head] = client.of(FRAME.headers, 3);
    // RFC 7541 section 4.2: the smallest size, then the present one.
    expect(head?.payload.subarray(0, 4).toString('hex')).toBe('203fe11f');
  });

  it('ends its connection if settings make its window too large', async () => {
    const client = await world.connect();
    client.send(post(), windowUpdate(2 ** 31 - 1 - 65_535));
    client.send(settings([SETTING.initialWindowSize, 65_536]));
    expect(await client.goneWith()).toBe(ERROR.flowControlError);
  });
});

it('an acknowledgement of settings that were not sent ends the connection', async () => {
  const client = await world.connect();
  const acknowledgement = frame(FRAME.settings, FLAG.ack, 0);
  client.send(acknowledgement);
  await client.settled();
  client.send(acknowledgement, get());
  expect(await client.goneWith()).toBe(ERROR.protocolError);
  // What comes after it is ignored.
  expect(world.seen).toEqual([]);
});

describe('an exception', () => {
  it('in a handler ends its connection and no other', async () => {
    world.onExchange = (exchange) => {
      if (exchange.head.method === 'POST') throw new Error('broken');
      echo(exchange);
    };
    const other = await world.connect();
    const client = await world.connect();
    client.send(get(1), post(3), get(5));
    await eventually(() => expect(client.isClosed).toBe(true));
    expect(world.internalErrors).toHaveLength(1);
    expect(world.seen.map(({ end }) => end)).toEqual(['internal_error', 'internal_error']);
    other.send(get());
    await other.ended();
  });

  it('leaves nothing behind that keeps the process busy', async () => {
    const turns = jest.spyOn(Sender.prototype, 'flush').mockImplementationOnce(() => {
      throw new Error('broken');
    });
    const client = await world.connect();
    await eventually(() => expect(client.isClosed).toBe(true));
    for (let turn = 0; turn < 100; turn += 1) await nextTurn();
    expect(turns.mock.calls.length).toBeLessThan(10);
    turns.mockRestore();
  });
});

describe('many requests in one read', () => {
  it('are all served, others in between', async () => {
    const client = await world.connect();
    const ids = Array.from(
      { length: LIMITS.maxConcurrentStreams },
      (_none, index) => 2 * index + 1,
    );
    for (let round = 0; round < 5; round += 1) {
      client.send(...ids.map((id) => get(id + 1000 * 2 * round)));
      await Promise.all(ids.map((id) => client.ended(id + 1000 * 2 * round)));
    }
    expect(world.seen).toHaveLength(5 * ids.length);
    expect(codes(client)).toEqual([]);
  });
});
