import { Duplex } from 'node:stream';
import type { ServerHttp2Stream } from 'node:http2';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { ConnectionGuard } from '@gateway/http/connection-guard';
import { BodyBuffer } from '@gateway/http/message/body-buffer';
import { eventually } from '@gateway/shared/test/eventually';
import { Http2Exchange } from './exchange.ts';

const HEAD = { method: 'PUT', framing: { kind: 'chunked' } };
const WINDOW = 64 * 1024;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A request whose frames the test sends, each of one value. */
function setUp() {
  const stream = new Duplex({ highWaterMark: WINDOW, read: () => undefined });
  const errors: unknown[] = [];
  const closed = { destroy: () => undefined };
  const guard = new ConnectionGuard(closed, (error) => void errors.push(error));
  const { body } = new Http2Exchange(
    Object.assign(stream, { aborted: false }) as unknown as ServerHttp2Stream,
    HEAD as never,
    { received: () => undefined, guard, address: '', isSecure: true },
  );
  const sent: Buffer[] = [];
  const got: Buffer[] = [];
  let ended = false;
  return {
    stream,
    body,
    errors,
    sent,
    got,
    ended: () => ended,
    send(bytes: number) {
      const frame = Buffer.alloc(bytes, sent.length % 250);
      sent.push(frame);
      stream.push(frame);
    },
    read() {
      body.start({
        data(bytes, last) {
          if (bytes.length > 0) got.push(Buffer.from(bytes));
          ended = last;
        },
        failed: () => undefined,
      });
    },
  };
}

describe('the body of an HTTP/2 request', () => {
  it('needs no more memory than its bytes while nothing reads it, however small its frames are', async () => {
    const world = setUp();
    world.read();
    world.body.pause();
    for (let frame = 0; frame < 5000; frame += 1) {
      world.send(1);
      if (frame % 100 === 0) await turn();
    }
    await turn();
    expect(world.got).toHaveLength(0);
    world.body.resume();
    await turn();
    expect(Buffer.concat(world.got)).toHaveLength(5000);
    expect(world.got.length).toBeLessThanOrEqual(2);
  });

  it('stops the caller at the limit, and goes on when it is read', async () => {
    const world = setUp();
    world.read();
    world.body.pause();
    for (let frame = 0; frame < 20; frame += 1) {
      world.send(10_000);
      await turn();
    }
    expect(world.stream.isPaused()).toBe(true);
    world.stream.push(null);
    world.body.resume();
    for (let count = 0; count < 20 && !world.ended(); count += 1) await turn();
    expect(world.ended()).toBe(true);
    expect(Buffer.concat(world.got).equals(Buffer.concat(world.sent))).toBe(true);
  });

  it('arrives whole and in order, whenever it is paused and resumed', async () => {
    const step = fc.oneof(
      fc.record({ send: fc.constantFrom(1, 100, 5000, 40_000, 70_000) }),
      fc.constant('pause' as const),
      fc.constant('resume' as const),
      fc.constant('turn' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const world = setUp();
        world.read();
        for (const one of steps) {
          if (one === 'turn') await turn();
          else if (one === 'pause') world.body.pause();
          else if (one === 'resume') world.body.resume();
          else world.send(one.send);
        }
        world.stream.push(null);
        world.body.resume();
        for (let count = 0; count < 200 && !world.ended(); count += 1) await turn();
        expect(world.ended()).toBe(true);
        expect(Buffer.concat(world.got).equals(Buffer.concat(world.sent))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

it('ends its connection if what has waited cannot be read', async () => {
  const world = setUp();
  const { body } = world;
  world.read();
  body.pause();
  world.send(1);
  await turn();
  const bug = new Error('a bug');
  jest.spyOn(BodyBuffer.prototype, 'parts').mockImplementationOnce(() => {
    throw bug;
  });
  body.resume();
  await turn();
  jest.restoreAllMocks();
  expect(world.errors).toEqual([bug]);
});

it('ends its connection if the stream of an upload cannot be stopped after the response', async () => {
  const bug = new Error('a bug');
  const errors: unknown[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, callback) => {
      callback();
    },
  });
  const close = () => {
    throw bug;
  };
  const fake = Object.assign(stream, { close }) as unknown as ServerHttp2Stream;
  const connection = { destroy: () => undefined };
  const guard = new ConnectionGuard(connection, (error) => void errors.push(error));
  const caller = { received: () => undefined, guard, address: '', isSecure: true };
  new Http2Exchange(fake, HEAD as never, caller).send('ok', true);
  await eventually(() => expect(errors).toEqual([bug]));
});
