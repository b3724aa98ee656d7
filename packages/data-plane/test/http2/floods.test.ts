import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import {
  ENHANCE_YOUR_CALM,
  HEAD,
  abuseOfHttp2,
  goAwayCode,
  pseudo,
  type Fields,
} from '../http2-abuse.ts';
import { FLAG, FRAME, fieldBlock, frame } from '../http2-frames.ts';

/** The most bytes that a flood may send before it is detected. */
const MAX_FLOOD_BYTES = 64 * 1024 * 1024;
const UNKNOWN_TYPE = 0xfa;
const WINDOW_UPDATE = 8;
const PADDED = 8;

const abuse = abuseOfHttp2();

const head = (method: string, ...more: Fields) =>
  fieldBlock([...pseudo(method), abuse.bearer(), ...more]);

const many = (count: number, one: Buffer) =>
  Buffer.concat(Array.from({ length: count }, () => one));

/** Sends the bytes repeatedly, as fast as they are accepted, and reads the answers. */
async function flood(next: () => Buffer): Promise<void> {
  const { connection } = abuse;
  const { socket } = connection;
  let sentBytes = 0;
  await eventually(
    () => {
      for (let round = 0; round < 20 && socket.writableLength === 0; round += 1) {
        if (connection.closed || sentBytes > MAX_FLOOD_BYTES) break;
        const bytes = next();
        sentBytes += bytes.length;
        socket.write(bytes);
      }
      expect(connection.closed).toBe(true);
    },
    { intervalMs: 1, deadlineMs: 20_000 },
  );
  expect(sentBytes).toBeLessThanOrEqual(MAX_FLOOD_BYTES);
}

describe('an HTTP/2 caller that sends bytes that are not part of a request', () => {
  it('is disconnected and counted: window updates', async () => {
    const make = () => frame(WINDOW_UPDATE, 0, 0, Buffer.from([0, 0, 0, 1]));
    const frames = many(1000, make());
    await flood(() => frames);
    const [goAway] = abuse.connection.frames.filter(({ type }) => type === FRAME.goAway);
    expect(goAwayCode(goAway?.payload ?? Buffer.alloc(8))).toBe(ENHANCE_YOUR_CALM);
    expect(await abuse.gateway.registry.metrics()).toMatch(
      /gateway_connections_ended_total\{reason="HTTP2_FLOOD"\} 1/,
    );
    await abuse.othersAreServed();
  });

  it.each([
    ['pings, even if it reads the answers', () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
    ['settings, even if it reads the answers', () => frame(FRAME.settings, 0, 0)],
    ['frames of an unknown type', () => frame(UNKNOWN_TYPE, 0, 0, Buffer.alloc(1000))],
    ['priorities', () => frame(2, 0, 1, Buffer.from([0, 0, 0, 0, 1]))],
    ['priorities that depend on themselves', () => frame(2, 0, 1, Buffer.from([0, 0, 0, 1, 1]))],
    ['answers to pings that were not sent', () => frame(FRAME.ping, FLAG.ack, 0, Buffer.alloc(8))],
  ])('is disconnected: %s', async (_case, make) => {
    const frames = many(1000, make());
    await flood(() => frames);
    await abuse.othersAreServed();
  });

  it.each([
    ['empty', () => frame(FRAME.data, 0, 1)],
    ['only padding', () => frame(FRAME.data, PADDED, 1, Buffer.alloc(201, 200))],
    ['of one byte', () => frame(FRAME.data, 0, 1, Buffer.from('x'))],
  ])('is disconnected: frames of a body that are %s', async (_case, make) => {
    abuse.connection.send(FRAME.headers, FLAG.endHeaders, 1, head('POST'));
    const frames = many(1000, make());
    await flood(() => frames);
    await abuse.othersAreServed();
  });

  it.each<[string, () => Buffer]>([
    ['more fields than allowed', () => head('GET', ...fields(1000, ['a', 'b']))],
    ['fields without a name', () => head('GET', ...fields(3000, ['', '']))],
    [
      'one large field of the table again and again (HPACK bomb)',
      () => Buffer.concat([head('GET'), Buffer.alloc(15_000, 0xbe)]),
    ],
  ])('is disconnected: %s', async (name, make) => {
    let stream = 1;
    if (name.includes('bomb')) {
      const entry = fieldBlock([['x-bomb', 'y'.repeat(3900)]]);
      // Incremental indexing (RFC 7541 section 6.2.1). It is the newest entry, at index 62.
      entry[0] = 0x40;
      abuse.connection.send(FRAME.headers, HEAD, stream, Buffer.concat([head('GET'), entry]));
      stream += 2;
    }
    const block = make();
    await flood(() => {
      stream += 2;
      return frame(FRAME.headers, HEAD, stream, block);
    });
    await abuse.othersAreServed();
    expect(abuse.gateway.records.length).toBeLessThan(1000);
  });
});

describe('an HTTP/2 caller that sends a body in small parts', () => {
  it('is served', async () => {
    abuse.connection.send(FRAME.headers, FLAG.endHeaders, 1, head('POST'));
    for (let part = 0; part < 5000; part += 1) {
      abuse.connection.send(FRAME.data, 0, 1, Buffer.from('twelve bytes'));
    }
    abuse.connection.send(FRAME.data, FLAG.endStream, 1);
    await abuse.connection.frame(FRAME.headers, 1);
    expect(abuse.upstream.seen[0]?.body).toHaveLength(60_000);
    expect(abuse.connection.closed).toBe(false);
  });
});

function fields(count: number, field: readonly [string, string]) {
  return Array.from({ length: count }, () => field);
}
