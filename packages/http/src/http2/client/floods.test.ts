import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { answer, http2ClientEachTest } from '../../../test/http2-client-world.ts';
import {
  data,
  fieldBlock,
  frame,
  literal,
  settings,
  uint32,
  windowUpdate,
} from '../../../test/http2-frames.ts';
import { ERROR, FLAG, FRAME, MAX_STREAM_ID } from '../protocol.ts';

const clock = manualClock();
const world = http2ClientEachTest({ clock });
const begun = () => frame(FRAME.headers, 0, 1, fieldBlock([[':status', '200']]));
/** Indexes one field that is as large as the table. */
const bomb = literal(0x40, 'x-bomb', 'y'.repeat(4000));

describe('a server that keeps the process busy', () => {
  it.each<[string, readonly Buffer[], (round: number) => Buffer]>([
    ['pings', [], () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
    ['answers to pings', [], () => frame(FRAME.ping, FLAG.ack, 0, Buffer.alloc(8))],
    ['settings', [], () => settings()],
    ['goodbyes', [], () => frame(FRAME.goAway, 0, 0, uint32(MAX_STREAM_ID, 0))],
    ['priorities', [], () => frame(FRAME.priority, 0, 1, Buffer.from([0, 0, 0, 0, 1]))],
    ['unknown frames', [], () => frame(0xfa, 0, 0, Buffer.alloc(1000))],
    ['window updates of the connection', [], () => windowUpdate(1, 0)],
    ['window updates of a stream', [], () => windowUpdate(1)],
    ['empty DATA', [answer()], () => data('')],
    ['DATA of padding', [answer()], () => frame(FRAME.data, FLAG.padded, 1, Buffer.from([0]))],
    ['CONTINUATION without end', [begun()], () => frame(FRAME.continuation, 0, 1)],
    [
      'a head without end',
      [begun()],
      (round) => frame(FRAME.continuation, 0, 1, literal(0, `x-${round}`, 'y'.repeat(16_000))),
    ],
    ['DATA of a stream that has ended', [answer(1, 5)], () => data('')],
    [
      'fields that grow when they are read',
      [frame(FRAME.headers, 4, 1, Buffer.concat([Buffer.from([0x88]), bomb]))],
      () => frame(FRAME.headers, 5, 1, Buffer.alloc(100, 0xbe)),
    ],
  ])('with %s loses its connection, and others are served', async (_what, first, next) => {
    const { connection, peer } = await world.connect();
    const other = await world.connect();
    const exchange = world.send(connection);
    const sibling = world.send(connection);
    await peer.frame(FRAME.headers, 3);
    peer.send(...first);
    let sent = 0;
    await eventually(
      () => {
        for (let round = 0; round < 200 && peer.socket.writableLength === 0; round += 1) {
          if (peer.isClosed || sent > 20_000) break;
          peer.send(next(sent));
          sent += 1;
        }
        expect(peer.isClosed).toBe(true);
      },
      { intervalMs: 1 },
    );
    expect(sent).toBeLessThan(20_000);
    expect(['complete', 'invalid_response']).toContain([exchange.end].flat()[0]);
    expect(sibling.end).toEqual(['invalid_response', true]);
    expect(world.ended.map((reason) => reason.slice(0, 6))).toEqual(['HTTP2_']);
    const next2 = world.send(other.connection);
    await other.peer.frame(FRAME.headers, 1);
    other.peer.send(answer(1, FLAG.endHeaders | FLAG.endStream));
    expect(await next2.ended()).toBe('complete');
  });

  it('with pings that it makes this end answer, and does not read', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection, { method: 'POST', body: Buffer.alloc(60_000) });
    await peer.frame(FRAME.headers, 1);
    peer.socket.pause();
    await eventually(
      () => {
        for (let round = 0; round < 400; round += 1) {
          peer.send(frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
        }
        clock.advance(1000);
        expect(exchange.end).toBeDefined();
      },
      { intervalMs: 1 },
    );
    expect([exchange.end].flat()[0]).toMatch(/reset|invalid_response/);
    expect(ERROR.enhanceYourCalm).toBe(11);
    expect(world.ended).toHaveLength(1);
  });
});
