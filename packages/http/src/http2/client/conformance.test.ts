import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { ServerCase } from '../../../test/http2-cases/server-case.ts';
import { SERVER_FRAMES } from '../../../test/http2-cases/server-frames.ts';
import { SERVER_MESSAGES } from '../../../test/http2-cases/server-messages.ts';
import { answer, http2ClientEachTest } from '../../../test/http2-client-world.ts';
import { ERROR, FLAG, FRAME } from '../protocol.ts';

const world = http2ClientEachTest();

/** Sends two requests, and the frames of a case as an answer to the first one. */
async function run([, , frames, expected]: ServerCase): Promise<void> {
  const { connection, peer } = await world.connect();
  const exchange = world.send(connection);
  const sibling = world.send(connection);
  await peer.frame(FRAME.headers, 3);
  peer.send(...frames);
  const end =
    expected.end === 'complete'
      ? 'complete'
      : [expected.end, expected.end !== ('refused_stream' as string)];
  expect(await exchange.ended()).toEqual(end);
  if (expected.goAway !== undefined) {
    expect(await peer.goneWith()).toBe(expected.goAway);
    expect(await sibling.ended()).toEqual(['invalid_response', true]);
    expect(world.ended).toEqual(['HTTP2_INVALID_FRAME']);
    await eventually(() => expect(world.closed).toBe(1));
  } else {
    if (expected.reset !== undefined) await peer.frame(FRAME.rstStream, 1);
    await peer.settled();
    const codes = expected.reset === undefined ? [] : [[1, expected.reset]];
    expect(peer.resets()).toEqual(codes);
    expect(peer.of(FRAME.goAway)).toEqual([]);
    peer.send(answer(3, FLAG.endHeaders | FLAG.endStream));
    expect(await sibling.ended()).toBe('complete');
  }
  expect(world.internalErrors).toEqual([]);
}

describe('a client of HTTP/2 (RFC 9113)', () => {
  const cases = [...SERVER_FRAMES, ...SERVER_MESSAGES];
  it.each(cases.map((one) => [...one.slice(0, 2), one]) as [string, string, ServerCase][])(
    'section %s: %s',
    async (_section, _name, one) => {
      await run(one);
    },
  );

  it('sends the preface, settings without push, and a larger window of the connection alone', async () => {
    const { peer } = await world.connect();
    const [first] = peer.of(FRAME.settings);
    const pairs = new Map<number, number>();
    const payload = first?.payload ?? Buffer.alloc(0);
    for (let at = 0; at < payload.length; at += 6) {
      pairs.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
    }
    expect(pairs.get(2)).toBe(0);
    expect(pairs.get(4)).toBe(65_535);
    expect(pairs.get(6)).toBe(65_536);
    expect(peer.of(FRAME.windowUpdate, 0)).toHaveLength(1);
  });

  it.each([
    ['a frame other than settings', [answer(1)], ERROR.protocolError],
    ['an acknowledgement', [Buffer.from([0, 0, 0, 4, 1, 0, 0, 0, 0])], ERROR.protocolError],
  ])('section 3.4: %s first', async (_name, frames, code) => {
    const { connection, peer } = await world.connectSilently();
    const exchange = world.send(connection);
    await peer.frame(FRAME.headers, 1);
    peer.send(...frames);
    expect(await peer.goneWith()).toBe(code);
    expect(await exchange.ended()).toEqual(['invalid_response', true]);
  });
});
