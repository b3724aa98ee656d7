import { expect, it } from '@jest/globals';
import { data, frame, post, reset, type FrameClient } from '../../test/http2-frames.ts';
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
