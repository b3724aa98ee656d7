import { Socket } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { get, windowUpdate } from '../../test/http2-frames.ts';
import { LIMITS, serveHttp2EachTest } from '../../test/http2-world.ts';
import type { ServerExchange } from '../exchange.ts';
import { READ_BUFFER, readBytes } from '../message/read-buffer.ts';
import type { RequestHead } from '../message/request-head.ts';
import { OUTPUT_BYTES } from './output.ts';
import { SETTING } from './protocol.ts';
import { Sender } from './sender.ts';
import { STATE } from './stream-state.ts';
import { Stream, type StreamConnection } from './stream.ts';

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

it('a response is not complete before its bytes were written', () => {
  const reports: (() => void)[] = [];
  const socket = {
    destroyed: false,
    writable: true,
    writableLength: 0,
    write: (_bytes: Buffer, report: () => void) => reports.push(report),
  };
  const taken: number[] = [];
  const none = () => undefined;
  const sender = new Sender(socket as unknown as Socket, {
    opened: none,
    ended: (stream) => (stream.state = STATE.closed),
    taken: ({ id }) => void taken.push(id),
    writable: none,
    sentData: none,
  });
  const connection = {
    changed(one: Stream) {
      sender.queue(one);
    },
    date: () => 'now',
  };
  const respond = (id: number) => {
    const head = { method: 'GET' } as RequestHead;
    const stream = new Stream(id, head, connection as StreamConnection, 1000, false);
    stream.respond(200, '', [], true);
  };
  respond(1);
  // The system is busy.
  socket.writableLength = 100;
  sender.flush();
  respond(3);
  sender.encode();
  socket.writableLength = 0;
  reports[0]?.();
  expect(taken).toEqual([]);
  sender.flush();
  expect(taken).toEqual([1, 3]);
});
