import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { get, post, settings, windowUpdate } from '../../test/http2-frames.ts';
import { serveHttp2EachTest } from '../../test/http2-world.ts';
import { ERROR, FIRST_WINDOW, FRAME, MAX_WINDOW, SETTING } from './protocol.ts';

const world = serveHttp2EachTest();

describe('a response', () => {
  it('tells its handler when the caller takes more', async () => {
    const held = world.holdAll();
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
    const held = world.holdAll();
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
    const held = world.holdAll();
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
    expect([client.resets(), client.of(FRAME.goAway)]).toEqual([[], []]);
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
    const held = world.holdAll();
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

  it('ends its connection if settings make its window too large', async () => {
    const client = await world.connect();
    client.send(post(), windowUpdate(2 ** 31 - 1 - 65_535));
    client.send(settings([SETTING.initialWindowSize, 65_536]));
    expect(await client.goneWith()).toBe(ERROR.flowControlError);
  });
});
