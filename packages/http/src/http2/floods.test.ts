import { describe, expect, it, jest } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import {
  data,
  fieldBlock,
  type FrameClient,
  frame,
  get,
  HEAD,
  literal,
  post,
  pseudo,
  reset,
  settings,
  windowUpdate,
} from '../../test/http2-frames.ts';
import { LIMITS, serveHttp2EachTest } from '../../test/http2-world.ts';
import { ALLOWED } from './limits.ts';
import { ERROR, FLAG, FRAME, SETTING } from './protocol.ts';
import { Session } from './session.ts';

const clock = manualClock();
const world = serveHttp2EachTest({ clock });

/** Sends frames until the connection ends. Returns how many. */
async function flood(client: FrameClient, next: (round: number) => Buffer): Promise<number> {
  let sent = 0;
  await eventually(
    () => {
      for (let round = 0; round < 200 && client.socket.writableLength === 0; round += 1) {
        if (client.isClosed || sent > 100_000) break;
        client.send(next(sent));
        sent += 1;
      }
      expect(client.isClosed).toBe(true);
    },
    { intervalMs: 1 },
  );
  return sent;
}

const bomb = literal(0x40, 'x-bomb', 'y'.repeat(3900));

/** A window of 0, so that no response ends. */
function SILENT(): Buffer {
  return Buffer.concat([
    settings([SETTING.initialWindowSize, 0]),
    ...Array.from({ length: LIMITS.maxConcurrentStreams }, (_none, index) => post(2 * index + 1)),
  ]);
}

describe('a caller that keeps the process busy', () => {
  it.each<[string, Buffer[], (round: number) => Buffer]>([
    ['pings', [], () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
    ['replies to pings', [], () => frame(FRAME.ping, FLAG.ack, 0, Buffer.alloc(8))],
    ['settings', [], () => settings()],
    ['priorities', [], () => frame(FRAME.priority, 0, 1, Buffer.from([0, 0, 0, 0, 1]))],
    ['unknown frames', [], () => frame(0xfa, 0, 0, Buffer.alloc(1000))],
    ['window updates of the connection', [], () => windowUpdate(1, 0)],
    ['window updates of a stream', [post()], () => windowUpdate(1)],
    ['empty DATA', [post()], () => data('')],
    ['DATA of padding', [post()], () => frame(FRAME.data, FLAG.padded, 1, Buffer.alloc(201, 200))],
    ['frames of a closed stream', [post(), reset()], () => windowUpdate(1)],
    ['resets of a stream that was reset', [post(), windowUpdate(0)], () => reset()],
    ['trailers of a stream that was reset', [post(), windowUpdate(0)], () => get()],
    ['empty DATA of a stream that was reset', [post(), windowUpdate(0)], () => data('')],
    ['streams above their number', [SILENT()], (round) => post(2 * round + 1)],
    ['fields that are too large', [], (round) => get(2 * round + 1, [['x', 'y'.repeat(5000)]])],
    ['empty CONTINUATION', [frame(FRAME.headers, 0, 1)], () => frame(FRAME.continuation, 0, 1)],
    [
      'CONTINUATION without an end',
      [frame(FRAME.headers, 0, 1)],
      () => frame(FRAME.continuation, 0, 1, Buffer.alloc(1000, 0x82)),
    ],
    [
      'a field of the table again and again',
      [frame(FRAME.headers, HEAD, 1, Buffer.concat([fieldBlock(pseudo()), bomb]))],
      (round) =>
        frame(
          FRAME.headers,
          HEAD,
          2 * round + 3,
          Buffer.concat([fieldBlock(pseudo()), Buffer.alloc(10_000, 0xbe)]),
        ),
    ],
    [
      'many fields without a name',
      [],
      (round) => frame(FRAME.headers, HEAD, 2 * round + 1, Buffer.alloc(3000, 0)),
    ],
  ])('is asked to calm down: %s', async (_kind, before, next) => {
    const other = await world.connect();
    const client = await world.connect();
    client.send(...before);
    await flood(client, next);
    const [goAway] = client.of(FRAME.goAway);
    // The kernel drops what was sent if more arrives after the end.
    if (goAway !== undefined) expect(goAway.payload.readUInt32BE(4)).toBe(ERROR.enhanceYourCalm);
    expect(world.ended).toEqual(['HTTP2_FLOOD']);
    other.send(get(201));
    await other.ended(201);
  });

  it('with requests that are refused is asked to calm down, also if it waits for each response', async () => {
    const client = await world.connect();
    for (let batch = 0; batch < 11 && !client.isClosed; batch += 1) {
      const ids = Array.from({ length: 20 }, (_none, index) => 40 * batch + 2 * index + 1);
      client.send(...ids.map((id) => get(id, [['x', 'y'.repeat(5000)]])));
      await client.settled();
    }
    await eventually(() => expect(world.ended).toEqual(['HTTP2_FLOOD']));
    expect(world.refused).toHaveLength(ALLOWED.refused.burst + 1);
  });

  it.each<[string, (stream: number) => Buffer[]]>([
    ['resets of its own', (stream) => [post(stream), reset(8, stream)]],
    ['resets that it causes', (stream) => [post(stream), windowUpdate(0, stream)]],
    ['malformed requests', (stream) => [get(stream, [['x', 'y ']])]],
  ])('by %s is asked to calm down, and reaches no handler', async (_kind, frames) => {
    const client = await world.connect();
    await flood(client, (round) => Buffer.concat(frames(2 * round + 1)));
    expect(world.ended).toEqual(['HTTP2_RESETS']);
    expect(world.seen).toEqual([]);
  });

  it('and does not read the replies is cut', async () => {
    const client = await world.acknowledged([SETTING.initialWindowSize, 2 ** 30]);
    client.send(windowUpdate(2 ** 30, 0));
    // One response fills the socket; the other stream is not idle meanwhile.
    world.onExchange = (exchange) => {
      if (exchange.head.method === 'POST') return;
      exchange.respond(200, '', [], false);
      exchange.send(Buffer.alloc(16_000_000), true);
    };
    client.socket.pause();
    client.send(get(), post(3));
    await eventually(() => expect(world.seen).toHaveLength(2));
    // Pings are answered before time goes on and the next ones are sent. Fewer than are allowed come at a time, so only
    // what waits can be the reason.
    const replies = jest.spyOn(Session.prototype, 'reply');
    const pings = Array.from({ length: 100 }, () => frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
    for (let sent = 100; world.ended.length === 0; sent += 100) {
      client.send(...pings);
      await eventually(
        () => {
          const isHandled = world.ended.length > 0 || replies.mock.calls.length >= sent;
          expect(isHandled).toBe(true);
        },
        { intervalMs: 0 },
      );
      clock.advance(10_000);
    }
    replies.mockRestore();
    expect(world.ended).toEqual(['HTTP2_UNREAD']);
  });
});
