import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import {
  fieldBlock,
  frame,
  get,
  HEAD,
  post,
  PREFACE,
  pseudo,
  settings,
  windowUpdate,
} from '../../test/http2-frames.ts';
import { serveHttp2EachTest } from '../../test/http2-world.ts';
import { READ_BUFFER, readBytes } from '../message/read-buffer.ts';
import { ERROR, FLAG, FRAME, SETTING } from './protocol.ts';

const world = serveHttp2EachTest();

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
    expect([client.status(), errors.length]).toEqual(['502', 2]);
  });

  it('keeps bytes that the next read overwrites', async () => {
    const client = await world.connect([SETTING.initialWindowSize, 10]);
    const held = world.holdAll();
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
    expect(client.resets()).toEqual([[1, ERROR.internalError]]);
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
    const { receive } = world.accept((done) => void taken.push(done));
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
    const { socket, receive } = world.accept((done) => {
      setImmediate(done);
      socket.push(null);
    });
    receive(Buffer.concat([PREFACE, settings(), get()]));
    await eventually(() => expect(world.seen[0]?.end).toBe('complete'));
    await eventually(() => expect(socket.destroyed).toBe(true));
  });
});
