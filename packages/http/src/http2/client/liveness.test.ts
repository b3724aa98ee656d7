import { describe, expect, it, jest } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { answer, http2ClientEachTest } from '../../../test/http2-client-world.ts';
import { data, frame, type FrameClient } from '../../../test/http2-frames.ts';
import { ERROR, FLAG, FRAME, PING } from '../protocol.ts';

const clock = manualClock();
const world = http2ClientEachTest({ clock });
const BOTH = FLAG.endHeaders | FLAG.endStream;

/** The pings that ask whether the server is there. */
const asked = (peer: FrameClient) =>
  peer.of(FRAME.ping, 0).filter(({ flags, payload }) => {
    return flags === 0 && payload.readUInt32BE(4) === PING.alive;
  });

async function answerPing(peer: FrameClient): Promise<void> {
  const [ping] = asked(peer).slice(-1);
  peer.send(frame(FRAME.ping, FLAG.ack, 0, ping?.payload));
  await peer.settled();
}

/** Time passes, a check after the other. */
function pass(seconds: number): void {
  for (let second = 0; second < seconds; second += 1) clock.advance(1000);
}

describe('a server that is silent', () => {
  it('is asked after ten seconds, and left if it does not answer: its requests are unknown', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    const sibling = world.send(connection);
    await peer.frame(FRAME.headers, 3);
    clock.advance(1000);
    clock.advance(9000);
    expect(asked(peer)).toHaveLength(0);
    clock.advance(2000);
    await eventually(() => expect(asked(peer)).toHaveLength(1), { intervalMs: 1 });
    // It was asked at the check a second ago.
    clock.advance(3000);
    expect(exchange.end).toBeUndefined();
    clock.advance(1000);
    expect([exchange.end, sibling.end]).toEqual([
      ['reset', true],
      ['reset', true],
    ]);
    expect(world.ended).toEqual(['HTTP2_SILENT']);
    await eventually(() => expect(world.closed).toBe(1), { intervalMs: 1 });
  });

  it('that answers is asked again only after five minutes', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    pass(12);
    await eventually(() => expect(asked(peer)).toHaveLength(1), { intervalMs: 1 });
    await answerPing(peer);
    pass(290);
    expect(world.ended).toEqual([]);
    expect(asked(peer)).toHaveLength(1);
    pass(12);
    await eventually(() => expect(asked(peer)).toHaveLength(2), { intervalMs: 1 });
    await answerPing(peer);
    expect(exchange.end).toBeUndefined();
    expect(world.ended).toEqual([]);
  });

  it('is asked again after something else than its answer has arrived', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    pass(12);
    await eventually(() => expect(asked(peer)).toHaveLength(1), { intervalMs: 1 });
    peer.send(answer(), data('x'));
    await eventually(() => expect(exchange.body).toHaveLength(1), { intervalMs: 1 });
    pass(12);
    await eventually(() => expect(asked(peer)).toHaveLength(2), { intervalMs: 1 });
  });

  it('is not left while bytes arrive, although no answer does', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    pass(12);
    await eventually(() => expect(asked(peer)).toHaveLength(1), { intervalMs: 1 });
    peer.send(answer());
    await eventually(() => expect(exchange.response).toBeDefined(), { intervalMs: 1 });
    for (let second = 0; second < 20; second += 1) {
      clock.advance(1000);
      peer.send(data('x'));
      await eventually(() => expect(exchange.body).toHaveLength(second + 1), { intervalMs: 1 });
    }
    expect(world.ended).toEqual([]);
  });

  it('is not blamed for a pause of this process', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    pass(12);
    await eventually(() => expect(asked(peer)).toHaveLength(1), { intervalMs: 1 });
    // The only check within this hour is the one that comes after it.
    const now = jest.spyOn(clock, 'monotonicMs');
    now.mockReturnValue(3_600_000);
    clock.advance(1000);
    clock.advance(1000);
    now.mockRestore();
    expect(exchange.end).toBeUndefined();
    expect(world.ended).toEqual([]);
  });

  it('is asked with the first request after ten seconds without one, and not while there is none', async () => {
    const { connection, peer } = await world.connect();
    const first = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    peer.send(answer(1, BOTH));
    await first.ended();
    pass(15);
    await peer.settled();
    expect(asked(peer)).toHaveLength(0);
    pass(12);
    world.send(connection);
    await peer.frame(FRAME.headers, 3);
    expect(asked(peer)).toHaveLength(1);
  });
});

describe('a server that stops', () => {
  it.each([
    ['before its settings', false, ERROR.enhanceYourCalm],
    ['without an acknowledgement', true, ERROR.settingsTimeout],
  ])('%s loses its connection', async (_what, hasSettings, code) => {
    const { connection, peer } = await world.connectSilently();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    if (hasSettings) {
      peer.send(frame(FRAME.settings, 0, 0));
      await peer.frame(FRAME.settings, 0, FLAG.ack);
    }
    clock.advance(9000);
    expect(exchange.end).toBeUndefined();
    clock.advance(2000);
    expect(exchange.end).toEqual(['reset', true]);
    expect(await peer.goneWith()).toBe(code);
    expect(world.ended).toEqual(['HTTP2_TIMEOUT']);
  });
});

describe('a connection without a stream', () => {
  it('closes after half a minute', async () => {
    const { connection, peer } = await world.connect();
    clock.advance(29_000);
    expect(connection.free).toBe(100);
    clock.advance(2000);
    expect(connection.free).toBe(0);
    expect(await peer.goneWith()).toBe(ERROR.noError);
    expect(world.ended).toEqual([]);
  });
});
