import { describe, expect, it } from '@jest/globals';
import {
  fieldBlock,
  frame,
  get,
  HEAD,
  integer,
  literal,
  pseudo,
  settings,
} from '../../test/http2-frames.ts';
import { serveHttp2EachTest } from '../../test/http2-world.ts';
import { FRAME, SETTING } from './protocol.ts';

const world = serveHttp2EachTest();

describe('the table of an encoder', () => {
  it('follows a table that the caller empties and enlarges in one frame', async () => {
    const client = await world.connect();
    client.send(get());
    await client.ended();
    const table = SETTING.headerTableSize;
    client.send(settings([table, 0], [table, 4096]), get(3));
    await client.ended(3);
    const [head] = client.of(FRAME.headers, 3);
    // RFC 7541 section 4.2: the smallest size, then the present one.
    expect(head?.payload.subarray(0, 4).toString('hex')).toBe('203fe11f');
  });
});

describe('the table of a decoder', () => {
  it('stays in step with blocks of refused streams', async () => {
    const client = await world.connect();
    const indexed = Buffer.concat([
      fieldBlock(pseudo()),
      literal(0x40, 'x-a', 'v '),
      literal(0x40, 'x-b', 'w'),
    ]);
    client.send(frame(FRAME.headers, HEAD, 1, indexed));
    await client.frame(FRAME.rstStream, 1);
    client.send(
      frame(FRAME.headers, HEAD, 3, Buffer.concat([fieldBlock(pseudo()), integer(0x80, 0x7f, 62)])),
    );
    await client.ended(3);
    expect(world.seen[0]?.exchange.head.fields).toEqual(['host', 'gateway.test', 'x-b', 'w']);
  });
});
