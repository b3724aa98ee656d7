import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { answer, http2ClientEachTest, type Exchange } from '../../../test/http2-client-world.ts';
import { data, fieldBlock, frame, HEAD, reset, windowUpdate } from '../../../test/http2-frames.ts';
import { ERROR, FLAG, FRAME, SETTING } from '../protocol.ts';

const world = http2ClientEachTest();
const BOTH = FLAG.endHeaders | FLAG.endStream;
const BUG = new Error('a bug');

describe('a response', () => {
  it('has a head as over HTTP/1.1', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    peer.send(
      answer(1, FLAG.endHeaders, [
        ['content-length', '5'],
        ['x-a', 'b'],
      ]),
      data('hello', FLAG.endStream),
    );
    await exchange.ended();
    expect(exchange.response).toEqual({
      status: 200,
      statusText: '',
      fields: ['content-length', '5', 'x-a', 'b'],
      framing: { kind: 'length', bytes: 5 },
      keepAlive: true,
      keepAliveHintMs: undefined,
    });
    expect(String(exchange.body)).toBe('hello');
    expect(exchange.calls).toEqual(['head', 'data, last']);
  });

  it.each([
    ['GET', '200', [], 'chunked'],
    ['HEAD', '200', ['content-length', '5'], 'none'],
    ['GET', '204', ['content-length', '5'], 'none'],
    ['GET', '304', ['content-length', '5'], 'none'],
  ])('to %s with the status %s and %j has the framing %s', async (method, status, fields, kind) => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection, { method });
    await peer.frame(FRAME.headers, 1);
    const pairs = fields.length === 0 ? [] : [[fields[0] ?? '', fields[1] ?? ''] as const];
    const flags = kind === 'none' ? BOTH : FLAG.endHeaders;
    peer.send(frame(FRAME.headers, flags, 1, fieldBlock([[':status', status], ...pairs])));
    await eventually(() => expect(exchange.response?.framing.kind).toBe(kind), { intervalMs: 1 });
    expect(exchange.response?.fields).toEqual(status === '204' ? [] : fields);
  });

  it('is delivered with what came in the read of its head', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    peer.send(answer(), data('a'));
    await eventually(() => expect(exchange.calls).toEqual(['head', 'data', 'delivered']), {
      intervalMs: 1,
    });
    peer.send(data('b', FLAG.endStream));
    await exchange.ended();
    expect(exchange.calls).toEqual(['head', 'data', 'delivered', 'data, last']);
  });

  it('passes hints and trailers on, and no other interim response', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    const interim = (status: string) =>
      frame(
        FRAME.headers,
        FLAG.endHeaders,
        1,
        fieldBlock([
          [':status', status],
          ['link', '</a>'],
        ]),
      );
    const trailers = frame(FRAME.headers, HEAD, 1, fieldBlock([['x-sum', '1']]));
    peer.send(interim('100'), interim('103'), answer(), data('x'), trailers);
    await exchange.ended();
    expect(exchange.hinted).toEqual([['link', '</a>']]);
    expect(exchange.trailers).toEqual(['x-sum', '1']);
    expect(exchange.calls).toEqual(['head', 'data, last']);
  });

  it('that is paused holds its own window only', async () => {
    const { connection, peer } = await world.connect();
    const slow = world.send(connection);
    const fast = world.send(connection);
    await peer.frame(FRAME.headers, 3);
    slow.stream?.pause();
    peer.send(answer(1), answer(3));
    await eventually(() => expect(fast.response).toBeDefined(), { intervalMs: 1 });
    slow.stream?.pause();
    const part = Buffer.alloc(16_000);
    for (let sent = 0; sent < 4; sent += 1) peer.send(data(part, 0, 1));
    for (let sent = 0; sent < 100; sent += 1) {
      peer.send(data(part, 0, 3));
      await peer.settled();
    }
    expect(fast.body).toHaveLength(1_600_000);
    expect(slow.body).toHaveLength(0);
    expect(peer.of(FRAME.windowUpdate, 1)).toEqual([]);
    peer.send(data('', FLAG.endStream, 1), data('', FLAG.endStream, 3));
    expect(await fast.ended()).toBe('complete');
    await peer.settled();
    expect(slow.end).toBeUndefined();
    expect(connection.free).toBe(100);
    slow.stream?.resume();
    expect(slow.end).toBe('complete');
    expect(slow.body).toHaveLength(64_000);
  });

  it('is read while the windows of any number of others are used up by readers that wait', async () => {
    const { connection, peer } = await world.connect();
    const slow = Array.from({ length: 40 }, () => world.send(connection));
    const fast = world.send(connection);
    const lastId = 2 * slow.length + 1;
    await peer.frame(FRAME.headers, lastId);
    for (const [index, exchange] of slow.entries()) {
      peer.send(answer(2 * index + 1));
      await eventually(() => expect(exchange.response).toBeDefined(), { intervalMs: 1 });
      exchange.stream?.pause();
      // All that its window allows: together they are more than the window of the connection was at its start.
      for (let left = 65_535; left > 0; left -= 16_384) {
        peer.send(data(Buffer.alloc(Math.min(left, 16_384)), 0, 2 * index + 1));
      }
      await peer.settled();
    }
    peer.send(answer(lastId));
    for (let sent = 0; sent < 100; sent += 1) {
      peer.send(data(Buffer.alloc(16_000), 0, lastId));
      await peer.settled();
    }
    expect(fast.body).toHaveLength(1_600_000);
    expect(peer.of(FRAME.goAway)).toEqual([]);
    for (const { body } of slow) expect(body).toHaveLength(0);
    for (const { stream } of slow) stream?.resume();
    for (const { body } of slow) expect(body).toHaveLength(65_535);
  });

  it('that waits for its reader outlasts its connection', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    peer.send(answer());
    await eventually(() => expect(exchange.response).toBeDefined(), { intervalMs: 1 });
    exchange.stream?.pause();
    peer.send(data('kept', FLAG.endStream));
    await peer.settled();
    peer.destroy();
    await eventually(() => expect(world.closed).toBe(1), { intervalMs: 1 });
    exchange.stream?.resume();
    expect(exchange.end).toBe('complete');
    expect(String(exchange.body)).toBe('kept');
  });

  it.each([
    ['after', 'CANCEL', ERROR.cancel, 'server_cancelled'],
    ['after', 'INTERNAL_ERROR', ERROR.internalError, 'reset'],
    ['before', 'CANCEL', ERROR.cancel, 'reset'],
  ])('whose stream is reset %s its head with %s fails so', async (when, _name, code, why) => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    if (when === 'after') peer.send(answer(), data('a'));
    peer.send(reset(code));
    expect(await exchange.ended()).toEqual([why, true]);
  });

  it('beyond a window resets its stream', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    peer.send(answer());
    await eventually(() => expect(exchange.response).toBeDefined(), { intervalMs: 1 });
    exchange.stream?.pause();
    for (let sent = 0; sent < 50; sent += 1) peer.send(data(Buffer.alloc(16_000)));
    expect(await exchange.ended()).toEqual(['invalid_response', true]);
    await peer.settled();
    expect(peer.resets()).toEqual([[1, ERROR.flowControlError]]);
    expect(connection.free).toBe(100);
  });
});

describe('cancel', () => {
  const cancels = async (act: (exchange: Exchange) => void) => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    const sibling = world.send(connection);
    await peer.frame(FRAME.headers, 3);
    act(exchange);
    await peer.frame(FRAME.rstStream, 1);
    peer.send(answer(1), data('late'), answer(3, BOTH));
    expect(await sibling.ended()).toBe('complete');
    expect(exchange.calls).toEqual([]);
    expect(exchange.end).toBeUndefined();
    expect(peer.resets()).toEqual([[1, ERROR.cancel]]);
    expect(connection.free).toBe(100);
  };

  it('resets its stream only, and ignores what comes of it', async () => {
    await cancels((exchange) => exchange.stream?.cancel());
  });

  it('has no effect twice', async () => {
    await cancels((exchange) => {
      exchange.stream?.cancel();
      exchange.stream?.cancel();
    });
  });

  it('of a request whose head was not sent sends nothing', async () => {
    const { connection, peer } = await world.connect();
    world.send(connection).stream?.cancel();
    world.send(connection, { path: '/next' });
    const head = await peer.frame(FRAME.headers, 1);
    expect(peer.fields(head)[':path']).toBe('/next');
    expect(peer.resets()).toEqual([]);
  });

  it('many times a second is not taken for a flood of late frames', async () => {
    const { connection, peer } = await world.connect();
    for (let id = 1; id < 6000; id += 2) {
      const exchange = world.send(connection);
      await eventually(() => expect(peer.of(FRAME.headers, id)).toHaveLength(1), { intervalMs: 0 });
      exchange.stream?.cancel();
      peer.send(answer(id), windowUpdate(1, id));
      peer.frames.length = 0;
      if (id % 100 === 1) await peer.settled();
    }
    expect(world.ended).toEqual([]);
    expect(connection.free).toBe(100);
  });
});

describe('an exception in what handles an exchange', () => {
  it.each(['head', 'data', 'delivered', 'hints'] as const)(
    'in %s ends its stream only',
    async (failing) => {
      const { connection, peer } = await world.connect();
      const exchange = world.send(connection);
      const sibling = world.send(connection);
      const target = failing === 'hints' ? exchange.hints : exchange;
      Object.assign(target, {
        [failing]: () => {
          throw BUG;
        },
      });
      await peer.frame(FRAME.headers, 3);
      const hints = frame(FRAME.headers, FLAG.endHeaders, 1, fieldBlock([[':status', '103']]));
      peer.send(hints, answer(1), data('x'));
      expect(await exchange.ended()).toEqual(['internal_error', true]);
      expect(world.internalErrors).toEqual([BUG]);
      await peer.frame(FRAME.rstStream, 1);
      peer.send(answer(3, BOTH));
      expect(await sibling.ended()).toBe('complete');
    },
  );

  it('ends a response that had waited for its reader', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    peer.send(answer());
    await eventually(() => expect(exchange.response).toBeDefined(), { intervalMs: 1 });
    exchange.stream?.pause();
    peer.send(data('x', FLAG.endStream));
    await peer.settled();
    exchange.data = () => {
      throw BUG;
    };
    exchange.stream?.resume();
    expect(exchange.end).toEqual(['internal_error', true]);
    expect(world.internalErrors).toEqual([BUG]);
    expect(connection.free).toBe(100);
  });
});

describe('how many exchanges a connection takes', () => {
  it('is what both ends allow, and rises with the settings of the server', async () => {
    const { connection, peer } = await world.connect([SETTING.maxConcurrentStreams, 3]);
    expect(connection.free).toBe(3);
    world.send(connection);
    expect([connection.free, connection.carried]).toEqual([2, 1]);
    const before = world.freed;
    peer.send(frame(FRAME.settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 200])));
    await peer.settled();
    expect(connection.free).toBe(99);
    expect(world.freed).toBe(before + 1);
    peer.send(frame(FRAME.settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 0])));
    await peer.settled();
    expect(connection.free).toBe(0);
    peer.send(answer(1, BOTH));
    await peer.settled();
    expect([connection.free, world.freed]).toEqual([0, before + 1]);
  });
});
