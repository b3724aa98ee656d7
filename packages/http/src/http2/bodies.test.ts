import { describe, expect, it, jest } from '@jest/globals';
import {
  data,
  fieldBlock,
  frame,
  HEAD,
  post,
  PREFACE,
  reset,
  settings,
  type FrameClient,
} from '../../test/http2-frames.ts';
import { serveHttp2EachTest } from '../../test/http2-world.ts';
import { FIRST_WINDOW, FLAG, FRAME } from './protocol.ts';

const world = serveHttp2EachTest();
const LARGE = Buffer.alloc(16_000);

/** How much the connection was given beyond its first window. */
const given = (client: FrameClient) =>
  client.of(FRAME.windowUpdate, 0).reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0);

const padded = () =>
  frame(
    FRAME.data,
    FLAG.padded,
    1,
    Buffer.concat([Buffer.from([255]), Buffer.alloc(10), Buffer.alloc(255)]),
  );

it.each<[string, () => Buffer[]]>([
  [
    'DATA of a stream that is closed',
    () => [post(), reset(), ...Array.from({ length: 40 }, () => data(LARGE))],
  ],
  ['padding of a body that nobody reads', () => [post(), ...Array.from({ length: 2500 }, padded)]],
  [
    'a body that ends before its length',
    () =>
      Array.from({ length: 38 }, (_none, index) => [
        post(2 * index + 1, [['content-length', '20000']]),
        data(LARGE, FLAG.endStream, 2 * index + 1),
      ]).flat(),
  ],
  [
    'a body that exceeds its length',
    () =>
      Array.from({ length: 38 }, (_none, index) => [
        post(2 * index + 1, [['content-length', '2']]),
        data(LARGE, 0, 2 * index + 1),
      ]).flat(),
  ],
  [
    'small DATA before what exceeds a length',
    () =>
      Array.from({ length: 38 }, (_none, index) => [
        post(2 * index + 1, [['content-length', '20000']]),
        ...Array.from({ length: 51 }, () => data(LARGE.subarray(0, 400), 0, 2 * index + 1)),
      ]).flat(),
  ],
])('gives the window of the connection back: %s', async (_what, frames) => {
  world.onExchange = () => undefined;
  const client = await world.connect();
  const all = frames();
  client.send(...all);
  await client.settled();
  const sent = all
    .filter((one) => one[3] === FRAME.data)
    .reduce((sum, one) => sum + one.length - 9, 0);
  // Without it less would be left.
  expect(sent).toBeGreaterThan(600_000);
  expect(FIRST_WINDOW + given(client) - sent).toBeGreaterThan(500_000);
  expect(world.ended).toEqual([]);
});

it('is not given back on a connection that ends, whose peer still reads', async () => {
  world.onExchange = () => undefined;
  const { socket, receive } = world.accept((done) => {
    done();
  });
  const ids = Array.from({ length: 12 }, (_none, index) => 2 * index + 1);
  const bodies = ids.flatMap((id) => [
    post(id),
    ...Array.from({ length: 4 }, () => data(LARGE, 0, id)),
  ]);
  receive(Buffer.concat([PREFACE, settings(), ...bodies, frame(FRAME.data, 0, 0)]));
  await new Promise((resolve) => setImmediate(resolve));
  expect(world.ended).toEqual(['HTTP2_INVALID_FRAME']);
  expect([socket.writableEnded, socket.destroyed, socket.errored]).toEqual([true, false, null]);
  const nextTurn = setImmediate;
  const scheduled = jest.spyOn(globalThis, 'setImmediate');
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => nextTurn(resolve));
  expect(scheduled).not.toHaveBeenCalled();
  scheduled.mockRestore();
});

describe('DATA of one read', () => {
  /** Opens a connection with two requests. Returns what their handlers get of the frames of one read. */
  function read(...frames: readonly Buffer[]): unknown[] {
    const got: unknown[] = [];
    let stream = -1;
    world.onExchange = ({ body }) => {
      const id = (stream += 2);
      body.start({
        data: (bytes, last) => got.push([id, String(bytes), last]),
        failed: (end) => got.push([id, end]),
      });
    };
    const { receive } = world.accept((done) => {
      done();
    });
    receive(Buffer.concat([PREFACE, settings(), post(1), post(3)]));
    receive(Buffer.concat(frames));
    return got;
  }

  const large = 'x'.repeat(600);
  const trailers = frame(FRAME.headers, HEAD, 1, fieldBlock([['x-sum', '1']]));

  it.each<[string, Buffer[], unknown[]]>([
    [
      'of each stream',
      [data('a'), data('A', 0, 3), data('b'), data('B', 0, 3), data('c')],
      [
        [1, 'abc', false],
        [3, 'AB', false],
      ],
    ],
    ['and its end', [data('a'), data('b', FLAG.endStream)], [[1, 'ab', true]]],
    ['and an empty end', [data('a'), data('b'), data('', FLAG.endStream)], [[1, 'ab', true]]],
    ['and trailers', [data('a'), data('b'), trailers], [[1, 'ab', true]]],
    [
      'before a reset',
      [data('a'), data('b'), reset()],
      [
        [1, 'ab', false],
        [1, 'peer_left'],
      ],
    ],
    [
      'with a large frame after it, at once',
      [data('a'), data(large), data('b'), data('A', 0, 3)],
      [
        [1, `a${large}`, false],
        [1, 'b', false],
        [3, 'A', false],
      ],
    ],
    [
      'without padding',
      [frame(FRAME.data, FLAG.padded, 1, Buffer.from('\u0002a..')), data('b')],
      [[1, 'ab', false]],
    ],
    [
      'before an error of the connection',
      [data('a'), data('b'), frame(FRAME.data, 0, 0)],
      [
        [1, 'peer_left'],
        [3, 'peer_left'],
      ],
    ],
  ])('is passed on together: %s', (_what, frames, expected) => {
    expect(read(...frames)).toEqual(expected);
  });

  it('follows what the read before it has begun', () => {
    const frames = Buffer.concat([data('a'), data('b'), data('c')]);
    const got: string[] = [];
    world.onExchange = ({ body }) => {
      body.start({ data: (bytes) => got.push(String(bytes)), failed: () => undefined });
    };
    const { receive } = world.accept((done) => {
      done();
    });
    receive(Buffer.concat([PREFACE, settings(), post(1), frames.subarray(0, 5)]));
    receive(frames.subarray(5));
    expect(got).toEqual(['a', 'bc']);
  });
});
