import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import {
  HEAD,
  PROTOCOL_ERROR,
  abuseOfHttp2,
  goAwayCode,
  pseudo,
  resetCode,
} from '../http2-abuse.ts';
import { FLAG, FRAME, fieldBlock } from '../http2-frames.ts';

const COMPRESSION_ERROR = 9;

const abuse = abuseOfHttp2();

const seenWithout = (...canaries: string[]) =>
  abuse.upstream.seen.filter(({ headers }) => !canaries.includes(String(headers['x-canary'])));

/** A literal field that is added to the table (RFC 7541 section 6.2.1), with strings shorter than 127 bytes. */
const indexed = (name: string, value: string) => {
  const text = (string: string) =>
    Buffer.from(String.fromCharCode(string.length) + string, 'latin1');
  return Buffer.concat([Buffer.from([0x40]), text(name), text(value)]);
};

async function expectReset(stream: number) {
  const reset = await abuse.connection.frame(FRAME.rstStream, stream);
  expect(resetCode(reset.payload)).toBe(PROTOCOL_ERROR);
}

/** Checks that another stream of the connection is answered, and that nothing else has reached the upstream. */
async function expectOnlyOthersServed() {
  expect(abuse.connection.closed).toBe(false);
  await abuse.othersAreServed();
  expect(abuse.upstream.seen.map(({ headers }) => headers['x-canary'])).toContain('same');
  expect(seenWithout('same', 'other')).toEqual([]);
}

describe('an HTTP/2 request with an invalid field', () => {
  it.each([
    ['a space at the end', 'x-field', 'v '],
    ['a tab at the end', 'x-field', 'v\t'],
    ['a space at the start', 'x-field', ' v'],
    ['a tab at the start', 'x-field', '\tv'],
    ['only a space', 'x-field', ' '],
    ['a line break', 'x-field', 'a\r\nx-smuggled: 1'],
    ['CR', 'x-field', 'a\rb'],
    ['LF', 'x-field', 'a\nb'],
    ['NUL', 'x-field', 'a\0b'],
    ['another control character', 'x-field', 'a\x01b'],
    ['an escape', 'x-field', '\x1b'],
    ['DEL', 'x-field', 'a\x7fb'],
    ['a colon in the name', 'foo:bar', 'v'],
    ['an empty name', '', 'v'],
    ['a space after the name', 'transfer-encoding ', 'chunked'],
    ['a space before the name', ' content-length', '0'],
    ['a line break in the name', 'x\r\ny', 'v'],
    ['NUL in the name', 'x\0', 'v'],
    ['a byte above ASCII in the name', 'x\xe9', 'v'],
    ['a bracket in the name', 'x(y)', 'v'],
    ['a pseudo-header with a space', ':path ', '/'],
    ['a Host with a slash', 'host', 'gateway.test/x'],
    ['a Host with a space', 'host', 'gateway.test x'],
    ['a spaced Idempotency-Key', 'idempotency-key', 'k '],
    ['a spaced If-Match', 'if-match', '"r1" '],
    ['a spaced Cookie', 'cookie', 'a=b '],
    ['a spaced X-Gateway-Version', 'x-gateway-version', 'v2 '],
    ['a spaced Authorization', 'authorization', 'Bearer x '],
    ['a spaced X-Forwarded-For', 'x-forwarded-for', ' 10.0.0.1'],
  ])('is reset, and reaches no upstream: %s', async (_case, name, value) => {
    abuse.connection.send(FRAME.headers, HEAD, 1, abuse.request([name, value]));
    await expectReset(1);
    await expectOnlyOthersServed();
  });

  it.each(['accept', 'cookie'])('is reset if %s is the first of many fields', async (name) => {
    const fields = fieldBlock([...pseudo(), [name, 'v '], abuse.bearer(), ['x-last', '1']]);
    abuse.connection.send(FRAME.headers, HEAD, 1, fields);
    await expectReset(1);
    await expectOnlyOthersServed();
  });

  it('is reset if the field comes from the table, in this and in later streams', async () => {
    const head = Buffer.concat([abuse.request(), indexed('x-field', 'v ')]);
    abuse.connection.send(FRAME.headers, HEAD, 1, head);
    const again = Buffer.concat([abuse.request(), Buffer.from([0x80 | 62])]);
    abuse.connection.send(FRAME.headers, HEAD, 3, again);
    // The name of the entry with another value.
    const named = Buffer.concat([abuse.request(), Buffer.from([0x0f, 62 - 15, 1, 0x76])]);
    abuse.connection.send(FRAME.headers, HEAD, 5, named);
    await expectReset(1);
    await expectReset(3);
    const answer = await abuse.connection.frame(FRAME.headers, 5);
    expect(answer.stream).toBe(5);
    expect(seenWithout()[0]?.headers['x-field']).toBe('v');
  });

  it.each([1, 7, 40])('is reset if it arrives in frames of %i bytes', async (size) => {
    const block = abuse.request(['x-field', 'a\nb']);
    // node:http2 accepts eight CONTINUATION frames.
    const parts = [block.subarray(0, block.length - 3 * size)];
    for (let at = block.length - 3 * size; at < block.length; at += size) {
      parts.push(block.subarray(at, at + size));
    }
    parts.forEach((part, index) => {
      const last = index === parts.length - 1 ? FLAG.endHeaders : 0;
      if (index === 0) abuse.connection.send(FRAME.headers, FLAG.endStream | last, 1, part);
      else abuse.connection.send(FRAME.continuation, last, 1, part);
    });
    await expectReset(1);
    await expectOnlyOthersServed();
  });

  it('is reset if its frame is padded and has a priority', async () => {
    const payload = Buffer.concat([
      Buffer.from([3, 0, 0, 0, 0, 15]),
      abuse.request(['x-field', 'v ']),
      Buffer.alloc(3),
    ]);
    abuse.connection.send(FRAME.headers, HEAD | 0x28, 1, payload);
    await expectReset(1);
    await expectOnlyOthersServed();
  });

  it('does not run a request with an idempotency key twice', async () => {
    const fields = [...pseudo('POST'), abuse.bearer(), ['idempotency-key', 'k '] as const];
    for (const stream of [1, 3]) {
      abuse.connection.send(FRAME.headers, FLAG.endHeaders, stream, fieldBlock(fields));
      abuse.connection.send(FRAME.data, FLAG.endStream, stream, Buffer.from('{"amount":1}'));
      await expectReset(stream);
    }
    await expectOnlyOthersServed();
  });

  it('is not passed on as complete if the field is in its trailers', async () => {
    const fields = fieldBlock([...pseudo('POST'), abuse.bearer()]);
    abuse.connection.send(FRAME.headers, FLAG.endHeaders, 1, fields);
    abuse.connection.send(FRAME.data, 0, 1, Buffer.from('body'));
    abuse.connection.send(FRAME.headers, HEAD, 1, fieldBlock([['x-late', 'v ']]));
    await expectReset(1);
    await expectOnlyOthersServed();
  });

  it('leaves the streams that are open on its connection alone', async () => {
    const fields = fieldBlock([...pseudo('POST'), abuse.bearer(), ['x-canary', 'open']]);
    abuse.connection.send(FRAME.headers, FLAG.endHeaders, 1, fields);
    abuse.connection.send(FRAME.data, 0, 1, Buffer.from('first'));
    abuse.connection.send(FRAME.headers, HEAD, 3, abuse.request(['x-field', 'a\0b']));
    await expectReset(3);
    abuse.connection.send(FRAME.data, FLAG.endStream, 1, Buffer.from(' last'));
    await abuse.connection.frame(FRAME.headers, 1);
    expect(seenWithout('same', 'other').map(({ body }) => body)).toEqual(['first last']);
  });
});

describe('an HTTP/2 connection whose field blocks cannot be decoded', () => {
  it.each([
    ['an index beyond the table', Buffer.from([0xff, 0x00])],
    ['index 0', Buffer.from([0x80])],
    ['a truncated string', Buffer.from([0x00, 0x05, 0x61])],
    ['an endless integer', Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01])],
    ['a table that is too large', Buffer.from([0x3f, 0xe2, 0x1f])],
    ['invalid padding of a Huffman code', Buffer.from([0x00, 0x81, 0x00, 0x00])],
  ])('ends, and nothing is passed on: %s', async (_case, bytes) => {
    // The rest of the block is valid, so that nothing but these bytes can be the reason.
    const isResize = (bytes[0] ?? 0) === 0x3f;
    const parts = isResize ? [bytes, abuse.request()] : [abuse.request(), bytes];
    abuse.connection.send(FRAME.headers, HEAD, 1, Buffer.concat(parts));
    abuse.connection.send(FRAME.headers, HEAD, 3, abuse.request());
    const goAway = await abuse.connection.frame(FRAME.goAway);
    expect(goAwayCode(goAway.payload)).toBe(COMPRESSION_ERROR);
    await eventually(() => {
      expect(abuse.connection.closed).toBe(true);
    });
    await abuse.othersAreServed();
    expect(seenWithout('other')).toEqual([]);
    expect(await abuse.gateway.registry.metrics()).toMatch(
      /gateway_connections_ended_total\{reason="HTTP2_INVALID_FRAME"\} 1/,
    );
  });

  it.each<[string, number, number]>([
    ['another stream', FRAME.continuation, 3],
    ['another frame', FRAME.ping, 0],
  ])('ends if a field block is interrupted by %s', async (_case, type, stream) => {
    abuse.connection.send(FRAME.headers, FLAG.endStream, 1, abuse.request());
    abuse.connection.send(type, FLAG.endHeaders, stream, Buffer.alloc(8));
    const goAway = await abuse.connection.frame(FRAME.goAway);
    expect(goAwayCode(goAway.payload)).toBe(PROTOCOL_ERROR);
    await abuse.othersAreServed();
    expect(seenWithout('other')).toEqual([]);
  });
});
