import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { frame, get, post, reset, uint32, windowUpdate } from '../../test/http2-frames.ts';
import { serveHttp2EachTest } from '../../test/http2-world.ts';
import { ERROR, FLAG, FRAME, SETTING } from './protocol.ts';

const clock = manualClock();
const world = serveHttp2EachTest({ clock });

describe('a drain', () => {
  it('closes idle connections at once, and the others when they are idle; they still accept requests', async () => {
    const idle = await world.acknowledged();
    const busy = await world.acknowledged();
    const held: (() => void)[] = [];
    world.onExchange = (exchange) => void held.push(() => exchange.respond(200, '', [], true));
    busy.send(get());
    await eventually(() => expect(held).toHaveLength(1));
    world.server.drain();
    expect(await idle.goneWith()).toBe(ERROR.noError);
    busy.send(get(3));
    await eventually(() => expect(held).toHaveLength(2));
    expect(busy.of(FRAME.goAway)).toEqual([]);
    for (const answer of held) answer();
    await Promise.all([busy.ended(1), busy.ended(3)]);
    expect(await busy.goneWith()).toBe(ERROR.noError);
    expect(busy.of(FRAME.goAway).map(({ payload }) => payload.readUInt32BE(0))).toEqual([3]);
  });

  it('closes a connection when the caller has read the last response', async () => {
    const client = await world.acknowledged([SETTING.initialWindowSize, 2 ** 30]);
    world.onExchange = (exchange) => {
      exchange.respond(200, '', [], false);
      exchange.send(Buffer.alloc(8_000_000), true);
    };
    client.send(windowUpdate(2 ** 30, 0));
    client.socket.pause();
    client.send(get());
    await eventually(() => expect(world.seen).toHaveLength(1));
    world.server.drain();
    client.socket.resume();
    expect(await client.goneWith()).toBe(ERROR.noError);
    expect(world.seen[0]?.end).toBe('complete');
  });

  it('names the last stream only after a round trip, so that no request is lost', async () => {
    const client = await world.acknowledged();
    world.onExchange = (exchange) => {
      if (exchange.head.method === 'GET') exchange.respond(200, '', [], true);
    };
    client.send(post());
    await eventually(() => expect(world.seen).toHaveLength(1));
    world.server.goAway();
    const first = await client.frame(FRAME.goAway);
    expect(first.payload).toEqual(uint32(2 ** 31 - 1, ERROR.noError));
    // On its way when the caller reads that.
    client.send(get(3));
    await client.ended(3);
    const [ping] = client.of(FRAME.ping).slice(-1);
    client.send(frame(FRAME.ping, FLAG.ack, 0, ping?.payload), get(5));
    const { payload } = await client.frame(FRAME.rstStream, 5);
    expect(payload).toEqual(uint32(ERROR.refusedStream));
    expect(client.of(FRAME.goAway).at(-1)?.payload).toEqual(uint32(3, ERROR.noError));
    client.send(reset(8, 1));
    expect(await client.goneWith()).toBe(ERROR.noError);
    // The last stream never gets a higher number.
    const named = client.of(FRAME.goAway).map((one) => one.payload.readUInt32BE(0));
    expect(named).toEqual([2 ** 31 - 1, 3, 3]);
    expect(world.ended).toEqual([]);
  });

  it('does not wait for a caller that does not answer', async () => {
    const client = await world.acknowledged();
    world.onExchange = () => undefined;
    client.send(get());
    await eventually(() => expect(world.seen).toHaveLength(1));
    world.server.goAway();
    await client.frame(FRAME.goAway);
    clock.advance(3000);
    await eventually(() => expect(client.of(FRAME.goAway)).toHaveLength(2));
  });

  it('resets what is in progress when its time is over: a lost connection would ask gRPC clients to repeat it', async () => {
    const client = await world.acknowledged();
    const held = world.holdAll();
    client.send(post(), get(3), post(5));
    await eventually(() => expect(held).toHaveLength(3));
    held[1]?.respond(200, '', [], false);
    held[1]?.send('part', false);
    await client.frame(FRAME.data, 3);
    world.server.destroy();
    for (const id of [1, 3, 5]) {
      expect((await client.frame(FRAME.rstStream, id)).payload).toEqual(
        uint32(ERROR.internalError),
      );
    }
    expect(client.of(FRAME.goAway).at(-1)?.payload).toEqual(uint32(5, ERROR.noError));
    expect(await client.goneWith()).toBe(ERROR.noError);
    expect(world.seen.map(({ end }) => end)).toEqual(['drained', 'drained', 'drained']);
  });
});
