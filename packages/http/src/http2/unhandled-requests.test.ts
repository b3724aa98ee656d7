import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import {
  ERROR,
  FLAG,
  FRAME,
  frame,
  get,
  post,
  PREFACE,
  reset,
  settings,
  uint32,
  type FrameClient,
} from '../../test/http2-frames.ts';
import { LIMITS, serveHttp2EachTest } from '../../test/http2-world.ts';
import { ALLOWED } from './limits.ts';

const world = serveHttp2EachTest();
const GRPC = [['content-type', 'application/grpc']] as const;
const MAX = LIMITS.maxConcurrentStreams;
/** The first stream beyond the limit. */
const BEYOND = 2 * MAX + 1;
const RESPONSE = { status: 503, fields: ['grpc-status', '14'] };

/** A connection on which as many streams are open as it may have. */
async function fullConnection(): Promise<FrameClient> {
  world.holdAll();
  world.unhandled = (type) => (type === 'application/grpc' ? RESPONSE : undefined);
  const client = await world.acknowledged();
  client.send(...Array.from({ length: MAX }, (_none, index) => get(2 * index + 1)));
  await eventually(() => expect(world.seen).toHaveLength(MAX));
  return client;
}

describe('a request beyond the limit of streams', () => {
  it('gets the response for its content type, in one frame, and its stream is closed', async () => {
    const client = await fullConnection();
    client.send(get(BEYOND, GRPC));
    await client.ended(BEYOND);
    const [head, ...more] = client.of(FRAME.headers, BEYOND);
    const fields = head === undefined ? {} : client.fields(head);
    expect(fields).toMatchObject({ ':status': '503', 'grpc-status': '14' });
    expect(fields['date']).toMatch(/GMT$/);
    expect(more).toEqual([]);
    await client.settled();
    // Nothing is left to stop.
    expect(client.of(FRAME.rstStream, BEYOND)).toEqual([]);
    expect(world.seen).toHaveLength(MAX);
    expect(world.refused).toEqual([]);
  });

  it('is told to stop if a body follows', async () => {
    const client = await fullConnection();
    client.send(post(BEYOND, GRPC));
    const { payload } = await client.frame(FRAME.rstStream, BEYOND);
    expect(payload).toEqual(uint32(ERROR.noError));
    const [head] = client.of(FRAME.headers, BEYOND);
    expect(head?.flags).toBe(FLAG.endHeaders | FLAG.endStream);
    // What was on its way.
    client.send(frame(FRAME.data, FLAG.endStream, BEYOND, Buffer.from('late')));
    await client.settled();
    expect(client.isClosed).toBe(false);
  });

  it('takes no place: another one is handled when a stream has ended', async () => {
    const client = await fullConnection();
    client.send(post(BEYOND, GRPC), post(BEYOND + 2, GRPC), reset(8, 1), get(BEYOND + 4, GRPC));
    await eventually(() => expect(world.seen).toHaveLength(MAX + 1));
    expect(client.of(FRAME.rstStream, BEYOND + 4)).toEqual([]);
  });

  it('is reset if there is no response for it', async () => {
    const client = await fullConnection();
    client.send(get(BEYOND));
    const { payload } = await client.frame(FRAME.rstStream, BEYOND);
    expect(payload).toEqual(uint32(ERROR.refusedStream));
    expect(client.of(FRAME.headers, BEYOND)).toEqual([]);
  });

  it('counts as any that is refused: a flood of them is asked to calm down', async () => {
    const client = await fullConnection();
    for (let index = 0; index <= ALLOWED.refused.burst && !client.isClosed; index += 20) {
      const ids = Array.from({ length: 20 }, (_none, at) => BEYOND + 2 * (index + at));
      client.send(...ids.map((id) => get(id, GRPC)));
      await client.settled();
    }
    await eventually(() => expect(world.ended).toEqual(['HTTP2_FLOOD']));
  });

  it('gets a reset in place of a response if the caller does not read', async () => {
    world.unhandled = () => ({ status: 503, fields: ['x', 'y'.repeat(12_000)] });
    world.holdAll();
    const dones: (() => void)[] = [];
    const { socket, receive } = world.accept((done) => void dones.push(done));
    const ids = Array.from({ length: MAX + 150 }, (_none, index) => 2 * index + 1);
    receive(Buffer.concat([PREFACE, settings(), ...ids.map((id) => get(id))]));
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    // Each of these responses would have been kept.
    expect(socket.writableLength).toBeLessThan(200 * 1024);
    expect(world.ended).toEqual([]);
  });
});

describe('a request after the last stream of a drain', () => {
  it('gets the response for its content type', async () => {
    world.unhandled = () => RESPONSE;
    world.holdAll();
    const client = await world.acknowledged();
    client.send(get());
    await eventually(() => expect(world.seen).toHaveLength(1));
    world.server.goAway();
    await client.frame(FRAME.goAway);
    const [ping] = client.of(FRAME.ping).slice(-1);
    client.send(frame(FRAME.ping, FLAG.ack, 0, ping?.payload), get(3, GRPC));
    await client.ended(3);
    expect(client.status(3)).toBe('503');
    expect(world.seen).toHaveLength(1);
  });
});
