import { Socket } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { get, windowUpdate } from '../../test/http2-frames.ts';
import { LIMITS, serveHttp2EachTest } from '../../test/http2-world.ts';
import type { ServerExchange } from '../exchange.ts';
import { READ_BUFFER, readBytes } from '../message/read-buffer.ts';
import { OUTPUT_BYTES } from './output.ts';
import { SETTING } from './protocol.ts';

const world = serveHttp2EachTest();
const IDS = Array.from({ length: LIMITS.maxConcurrentStreams }, (_none, index) => 2 * index + 1);

afterEach(() => {
  jest.restoreAllMocks();
});

/** Opens all streams, which wait for their responses. */
async function open(window = 1_000_000) {
  const held: ServerExchange[] = [];
  world.onExchange = (exchange) => void held.push(exchange);
  const client = await world.connect([SETTING.initialWindowSize, window]);
  client.send(windowUpdate(10_000_000, 0), ...IDS.map((id) => get(id)));
  await eventually(() => expect(held).toHaveLength(IDS.length));
  await client.settled();
  return { client, held };
}

/** What is read from an upstream: valid until the next read. */
function upstreamBytes(text: string): Buffer {
  READ_BUFFER.write(text, 0, 'latin1');
  return readBytes(text.length);
}

describe('the responses of one turn', () => {
  it.each<[string, (text: string) => Buffer | string]>([
    ['texts', (text) => text],
    ['bytes that the next read overwrites', upstreamBytes],
  ])('leave in one write: %s', async (_what, body) => {
    const { client, held } = await open();
    const writes = jest.spyOn(Socket.prototype, 'write');
    for (const [index, exchange] of held.entries()) {
      exchange.respond(200, '', [], false);
      exchange.send(body(`response ${index}`), true);
    }
    READ_BUFFER.fill('z', 0, 100);
    expect(writes).not.toHaveBeenCalled();
    for (const [index, id] of IDS.entries()) {
      expect(await client.body(id)).toBe(`response ${index}`);
    }
    expect(writes).toHaveBeenCalledTimes(1);
    expect(world.seen.map(({ end }) => end)).toEqual(IDS.map(() => 'complete'));
  });

  it('leave in as many writes as they fill', async () => {
    const { client, held } = await open();
    const writes = jest.spyOn(Socket.prototype, 'write');
    for (const exchange of held) {
      exchange.respond(200, '', [], false);
      exchange.send(upstreamBytes('x'.repeat(10_000)), true);
    }
    const bytes = IDS.length * 10_000;
    expect(writes.mock.calls.length).toBeLessThanOrEqual(Math.ceil(bytes / OUTPUT_BYTES));
    READ_BUFFER.fill('z', 0, 10_000);
    for (const id of IDS) expect(await client.body(id)).toBe('x'.repeat(10_000));
  });
});

it('a response is not complete before its bytes were written', async () => {
  const { client, held } = await open();
  const [first, second] = held;
  first?.respond(200, '', [], false);
  first?.send(upstreamBytes('first'), true);
  // The write of the first response is reported while the second one is encoded and not written.
  setImmediate(() => {
    second?.respond(200, '', [], false);
    second?.send(upstreamBytes('second'), true);
    expect(world.seen[1]?.end).toBeUndefined();
  });
  expect([await client.body(1), await client.body(3)]).toEqual(['first', 'second']);
  await eventually(() => expect(world.seen[1]?.end).toBe('complete'));
});
