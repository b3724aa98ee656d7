import { describe, expect, it, jest } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { frame, get, post, uint32 } from '../../test/http2-frames.ts';
import { echo, serveHttp2EachTest } from '../../test/http2-world.ts';
import { Sender } from './sender.ts';
import { ERROR, FLAG, FRAME } from './protocol.ts';

const world = serveHttp2EachTest();

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

it('an acknowledgement of settings that were not sent ends the connection', async () => {
  const client = await world.connect();
  const acknowledgement = frame(FRAME.settings, FLAG.ack, 0);
  client.send(acknowledgement);
  await client.settled();
  client.send(acknowledgement, get());
  expect(await client.goneWith()).toBe(ERROR.protocolError);
  // What comes after it is ignored.
  expect(world.seen).toEqual([]);
});

describe('an exception', () => {
  it('in a handler ends its connection and no other', async () => {
    world.onExchange = (exchange) => {
      if (exchange.head.method === 'POST') throw new Error('broken');
      echo(exchange);
    };
    const other = await world.connect();
    const client = await world.connect();
    client.send(get(1), post(3), get(5));
    await eventually(() => expect(client.isClosed).toBe(true));
    expect(world.internalErrors).toHaveLength(1);
    expect(world.seen.map(({ end }) => end)).toEqual(['internal_error', 'internal_error']);
    // Of a lost connection gRPC clients would repeat all that was in progress.
    const resets = client.of(FRAME.rstStream).map(({ stream, payload }) => [stream, payload]);
    const code = uint32(ERROR.internalError);
    expect(resets).toEqual([1, 3, 5].map((id) => [id, code]));
    other.send(get());
    await other.ended();
  });

  it('leaves nothing behind that keeps the process busy', async () => {
    const turns = jest.spyOn(Sender.prototype, 'flush').mockImplementationOnce(() => {
      throw new Error('broken');
    });
    const client = await world.connect();
    await eventually(() => expect(client.isClosed).toBe(true));
    for (let turn = 0; turn < 100; turn += 1) await nextTurn();
    expect(turns.mock.calls.length).toBeLessThan(10);
    turns.mockRestore();
  });
});
