import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { answer, http2ClientEachTest } from '../../../test/http2-client-world.ts';
import { data, frame, uint32 } from '../../../test/http2-frames.ts';
import { ERROR, FLAG, FRAME, MAX_STREAM_ID } from '../protocol.ts';

const world = http2ClientEachTest();
const BOTH = FLAG.endHeaders | FLAG.endStream;
const goAway = (last: number, code = 0) => frame(FRAME.goAway, 0, 0, uint32(last, code));

describe('a server that goes away', () => {
  it('in the middle of 100 streams completes those that it names, and the others were not sent', async () => {
    const { connection, peer } = await world.connect();
    const all = Array.from({ length: 100 }, () => world.send(connection));
    await peer.frame(FRAME.headers, 199);
    peer.send(goAway(99));
    await eventually(() => expect(all[99]?.end).toBeDefined(), { intervalMs: 1 });
    expect(all.slice(50).map(({ end }) => end)).toEqual(all.slice(50).map(() => ['goaway', false]));
    expect([connection.free, connection.carried, connection.isRetired]).toEqual([0, 50, true]);
    expect(world.announced).toBe(1);
    for (let id = 1; id < 100; id += 2) peer.send(answer(id), data('x', FLAG.endStream, id));
    for (const one of all.slice(0, 50)) expect(await one.ended()).toBe('complete');
    expect(await peer.goneWith()).toBe(ERROR.noError);
    expect([world.freed, world.ended]).toEqual([0, []]);
  });

  it('in two steps gets no request after the first one', async () => {
    const { connection, peer } = await world.connect();
    const first = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    peer.send(goAway(MAX_STREAM_ID));
    await peer.settled();
    expect([connection.free, connection.isRetired, world.announced]).toEqual([0, true, 1]);
    expect(first.end).toBeUndefined();
    peer.send(goAway(1));
    await peer.settled();
    peer.send(answer(1, BOTH));
    expect(await first.ended()).toBe('complete');
    await peer.goneWith();
    expect(world.announced).toBe(1);
  });

  it('gets no request that was not written yet', async () => {
    const { connection, peer } = await world.connect();
    const [read] = [peer.frames.length];
    connection.socket.pause();
    peer.send(goAway(MAX_STREAM_ID));
    const exchange = world.send(connection);
    connection.socket.resume();
    await exchange.ended();
    // It was written before the frame was read, or it was not sent.
    const isWritten = peer.frames.slice(read).some(({ type }) => type === FRAME.headers);
    if (!isWritten) expect(exchange.end).toEqual(['goaway', false]);
  });

  it('without a stream is left at once', async () => {
    const { connection, peer } = await world.connect();
    peer.send(goAway(0));
    expect(await peer.goneWith()).toBe(ERROR.noError);
    expect(connection.free).toBe(0);
  });
});

describe('a connection', () => {
  it('that is retired completes its exchanges, then closes', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    connection.retire();
    expect([connection.free, connection.isRetired]).toEqual([0, true]);
    peer.send(answer(1, BOTH));
    expect(await exchange.ended()).toBe('complete');
    expect(await peer.goneWith()).toBe(ERROR.noError);
    await eventually(() => expect(world.closed).toBe(1), { intervalMs: 1 });
    expect([world.freed, world.announced]).toEqual([0, 0]);
  });

  it('that is lost ends what was sent as a reset, and what was not written as not sent', async () => {
    const { connection, peer } = await world.connect();
    const sent = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    peer.destroy();
    await eventually(() => expect(connection.socket.destroyed).toBe(true), { intervalMs: 1 });
    const late = world.send(connection);
    expect(await sent.ended()).toEqual(['reset', true]);
    expect(late.end).toEqual(['reset', false]);
    await eventually(() => expect(world.closed).toBe(1), { intervalMs: 1 });
    expect(connection.free).toBe(0);
  });

  it('that is destroyed tells no handler', async () => {
    const { connection, peer } = await world.connect();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    const unsent = world.send(connection);
    connection.destroy();
    await eventually(() => expect(world.closed).toBe(1), { intervalMs: 1 });
    expect([exchange.end, unsent.end]).toEqual([undefined, undefined]);
    expect([world.freed, connection.free]).toEqual([0, 0]);
  });
});
