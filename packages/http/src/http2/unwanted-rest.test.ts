import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import type { FrameClient } from '../../test/http2-frames.ts';
import { data, fieldBlock, frame, get, post, reset } from '../../test/http2-frames.ts';
import { LIMITS, serveHttp2EachTest } from '../../test/http2-world.ts';
import { ALLOWED } from './limits.ts';
import { ERROR, FLAG, FRAME } from './protocol.ts';
import { REST_TIMEOUT_MS } from './unwanted-rest.ts';

const clock = manualClock();
const world = serveHttp2EachTest({ clock });
const NO_ERROR = [1, ERROR.noError] as const;

/** A connection on which every request is refused at once, whatever of it has arrived. */
async function refusing(): Promise<FrameClient> {
  world.onExchange = (exchange) => {
    exchange.respond(413, '', [], true);
  };
  return world.acknowledged();
}

/** The time is over. Checks come each second. */
function wait(): void {
  for (let passedMs = 0; passedMs <= REST_TIMEOUT_MS; passedMs += 500) clock.advance(500);
}

describe('the rest of a request whose response is complete', () => {
  it.each([
    ['a body', [data('rest'), data('end', FLAG.endStream)]],
    ['a length', [data('12', FLAG.endStream)]],
    ['trailers', [data('rest'), frame(FRAME.headers, 5, 1, fieldBlock([['x-end', 'a']]))]],
    ['a reset', [reset(ERROR.noError)]],
  ])('may end with %s, and is not reset', async (what, rest) => {
    const client = await refusing();
    client.send(post(1, what === 'a length' ? [['content-length', '2']] : []));
    await client.ended();
    await eventually(() => expect(world.seen[0]?.end).toBe('complete'));
    client.send(...rest);
    await client.settled();
    wait();
    client.send(get(3));
    await client.ended(3);
    expect([client.resets(), world.ended]).toEqual([[], []]);
  });

  it.each([
    ['none of it', [] as const],
    ['a small announced rest', [['content-length', '9']] as const],
    ['a large announced rest', [['content-length', '9000000']] as const],
  ])('is reset without an error if it does not end in time: %s', async (_what, fields) => {
    const client = await refusing();
    client.send(post(1, fields), data('part'));
    await client.ended();
    await client.settled();
    expect(client.resets()).toEqual([]);
    wait();
    await eventually(() => expect(client.resets()).toEqual([NO_ERROR]));
    client.send(data('late'), get(3));
    await client.ended(3);
    expect([world.seen[0]?.end, world.ended]).toEqual(['complete', []]);
  });

  it('gets no further window, and that of the connection is given back', async () => {
    const client = await refusing();
    client.send(post(1, [['content-length', '9000000']]));
    await client.ended();
    const granted = client.of(FRAME.windowUpdate, 1).length;
    const sent = Array.from({ length: 60 }, () => data(Buffer.alloc(16_000)));
    client.send(...sent);
    await client.settled();
    expect(client.of(FRAME.windowUpdate, 1)).toHaveLength(granted);
    expect(client.of(FRAME.windowUpdate, 0).length).toBeGreaterThan(0);
    expect(world.ended).toEqual([]);
  });

  it('may not exceed the window of its stream', async () => {
    const client = await refusing();
    client.send(post(1));
    await client.ended();
    client.send(...Array.from({ length: 50 }, () => data(Buffer.alloc(16_000))));
    await client.settled();
    expect(client.resets()).toEqual([[1, ERROR.flowControlError]]);
  });

  it('takes a place, which it leaves to a request that finds none', async () => {
    const client = await refusing();
    const last = 2 * LIMITS.maxConcurrentStreams - 1;
    for (let id = 1; id <= last; id += 2) client.send(post(id));
    await client.ended(last);
    await client.settled();
    expect(client.resets()).toEqual([]);
    client.send(post(last + 2));
    await client.ended(last + 2);
    expect(client.status(last + 2)).toBe('413');
    expect(client.resets()).toEqual([NO_ERROR]);
  });

  it('is no rapid reset if the peer resets it, but a connection may not go on with that', async () => {
    const client = await refusing();
    const resetOnes = async (from: number, count: number) => {
      for (let one = 0; one < count && !client.isClosed; one += 1) {
        const id = from + 2 * one;
        client.send(post(id));
        await client.over(id);
        client.send(reset(ERROR.cancel, id));
      }
    };
    await resetOnes(1, 2 * LIMITS.maxResetsPerMinute);
    await client.settled();
    expect(world.ended).toEqual([]);
    const most = ALLOWED.closedStream.burst;
    for (let one = 0; one <= most; one += 1) client.send(reset(ERROR.cancel, 1));
    expect(await client.goneWith()).toBe(ERROR.enhanceYourCalm);
    expect(world.ended).toEqual(['HTTP2_FLOOD']);
  });

  it('keeps a draining connection open until it has ended, and not longer than its time', async () => {
    const client = await refusing();
    client.send(post(1));
    await client.ended();
    world.server.drain();
    await client.settled();
    expect(client.of(FRAME.goAway)).toEqual([]);
    wait();
    await client.frame(FRAME.goAway);
    expect(client.resets()).toEqual([NO_ERROR]);
  });

  it('does not keep a server from stopping now', async () => {
    const client = await refusing();
    client.send(post(1));
    await client.ended();
    world.server.destroy();
    await eventually(() => expect(client.isClosed).toBe(true));
    await world.server.closed();
  });
});
