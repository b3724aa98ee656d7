import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { HEAD, abuseOfHttp2, pseudo, resetCode, type Fields } from '../http2-abuse.ts';
import { FLAG, FRAME, fieldBlock, frame, uint32, type Frame } from '../http2-frames.ts';

const PROTOCOL_ERROR = 1;
const FLOW_CONTROL_ERROR = 3;
const STREAM_CLOSED = 5;
const FRAME_SIZE_ERROR = 6;
const MAX_WINDOW = 2 ** 31 - 1;
/** Of a connection and of a stream, until it is enlarged (RFC 9113 section 6.9.2). */
const FIRST_WINDOW = 65_535;
const WITH_PRIORITY = 0x20;
/** The stream that opened before the malformed one, the malformed one, and the one that opens after it. */
const [BEFORE, BAD, AFTER] = [1, 3, 5] as const;

const abuse = abuseOfHttp2({ HTTP2_MAX_RESETS_PER_MINUTE: '40' });

const head = (method: string, ...more: Fields) =>
  fieldBlock([...pseudo(method), abuse.bearer(), ...more]);

const start = (...more: Fields) =>
  frame(FRAME.headers, FLAG.endHeaders, BAD, head('POST', ['x-canary', 'bad'], ...more));

const data = (text: string, flags = 0) => frame(FRAME.data, flags, BAD, Buffer.from(text));

const window = (increment: number, stream: number = BAD) =>
  frame(FRAME.windowUpdate, 0, stream, uint32(increment));

const priority = (parent: number) => Buffer.concat([uint32(parent), Buffer.from([15])]);

/** The bad stream, after the end of its request, and after the caller has reset it. */
const ENDED = () => [start(), data('whole', FLAG.endStream)];
const RESET = () => [start(), frame(FRAME.rstStream, 0, BAD, uint32(8))];

const LENGTH_4 = ['content-length', '4'] as const;

/** By how much the window of the connection was enlarged. */
const givenBack = (frames: readonly Frame[]) =>
  frames
    .filter(({ type, stream }) => type === FRAME.windowUpdate && stream === 0)
    .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0);

/** Sends these frames between the two halves of a request on another stream, and checks that it and a later one are served. */
async function expectSiblingsServed(frames: readonly Buffer[]): Promise<void> {
  const { connection, upstream } = abuse;
  connection.send(FRAME.headers, FLAG.endHeaders, BEFORE, head('POST', ['x-canary', 'before']));
  connection.send(FRAME.data, 0, BEFORE, Buffer.from('first'));
  connection.sendAll(frames);
  connection.send(FRAME.data, FLAG.endStream, BEFORE, Buffer.from(' last'));
  connection.send(FRAME.headers, HEAD, AFTER, abuse.request(['x-canary', 'after']));
  await connection.frame(FRAME.headers, BEFORE);
  await connection.frame(FRAME.headers, AFTER);
  const bodies = upstream.seen.map(({ headers, body }) => `${String(headers['x-canary'])}:${body}`);
  expect(bodies).toEqual(expect.arrayContaining(['before:first last', 'after:']));
  expect(connection.frames.filter(({ type }) => type === FRAME.goAway)).toEqual([]);
  expect(connection.closed).toBe(false);
  await eventually(async () => expect(await abuse.gateway.inFlight()).toBe(0));
}

describe('a malformed HTTP/2 stream is reset, and its siblings are served', () => {
  it.each<[string, number, () => Buffer[]]>([
    ['DATA beyond Content-Length', PROTOCOL_ERROR, () => [start(LENGTH_4), data('123456')]],
    [
      'DATA beyond Content-Length that ends the stream',
      PROTOCOL_ERROR,
      () => [start(LENGTH_4), data('123456', FLAG.endStream)],
    ],
    [
      'DATA beyond Content-Length in a second frame, and more after it',
      PROTOCOL_ERROR,
      () => [start(LENGTH_4), data('1234'), data('5'), data('6'), data('', FLAG.endStream)],
    ],
    [
      'DATA beyond a Content-Length of 0',
      PROTOCOL_ERROR,
      () => [start(['content-length', '0']), data('1')],
    ],
    [
      'less DATA than Content-Length',
      PROTOCOL_ERROR,
      () => [start(LENGTH_4), data('1', FLAG.endStream)],
    ],
    ['a window update of 0', PROTOCOL_ERROR, () => [start(), window(0)]],
    [
      'a window update of 0 with the reserved bit',
      PROTOCOL_ERROR,
      () => [start(), window(2 ** 31)],
    ],
    ['a window that is too large', FLOW_CONTROL_ERROR, () => [start(), window(MAX_WINDOW)]],
    [
      'a window that is too large by 1 after several updates',
      FLOW_CONTROL_ERROR,
      () => [
        start(),
        window(MAX_WINDOW - FIRST_WINDOW - 7),
        window(7),
        window(1),
        window(1),
        window(0),
      ],
    ],
    [
      'a window that is too large after a setting',
      FLOW_CONTROL_ERROR,
      () => [
        start(),
        frame(FRAME.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(MAX_WINDOW)])),
        window(1),
      ],
    ],
    [
      'a priority that depends on itself',
      PROTOCOL_ERROR,
      () => [start(), frame(FRAME.priority, 0, BAD, priority(BAD))],
    ],
    [
      'a priority of a wrong size',
      FRAME_SIZE_ERROR,
      () => [start(), frame(FRAME.priority, 0, BAD, Buffer.alloc(4))],
    ],
    [
      'fields of a stream that depends on itself',
      PROTOCOL_ERROR,
      () => [
        frame(
          FRAME.headers,
          HEAD | WITH_PRIORITY,
          BAD,
          Buffer.concat([priority(BAD), head('GET', ['x-canary', 'bad'])]),
        ),
      ],
    ],
  ])('%s', async (_case, code, frames) => {
    await expectSiblingsServed(frames());
    const reset = await abuse.connection.frame(FRAME.rstStream, BAD);
    expect(resetCode(reset.payload)).toBe(code);
    // Nothing that looks complete has reached the upstream.
    expect(abuse.upstream.seen.filter(({ headers }) => headers['x-canary'] === 'bad')).toEqual([]);
    expect(
      abuse.connection.frames.filter(
        ({ type, stream }) => type === FRAME.rstStream && stream === BAD,
      ),
    ).toHaveLength(1);
  });

  it.each<[string, () => Buffer[]]>([
    [
      'an answer to a ping that was not sent',
      () => [frame(FRAME.ping, FLAG.ack, 0, Buffer.alloc(8))],
    ],
    [
      'the largest window',
      () => [start(), window(MAX_WINDOW - FIRST_WINDOW), data('x', FLAG.endStream)],
    ],
    ['a window update of 0 for a closed stream', () => [...RESET(), window(0)]],
    [
      'a priority update (RFC 9218)',
      () => [frame(16, 0, 0, Buffer.concat([uint32(BAD), Buffer.from('u=1')]))],
    ],
  ])('harmless, and ignored: %s', async (_case, frames) => {
    await expectSiblingsServed(frames());
    const resets = abuse.connection.frames.filter(({ type }) => type === FRAME.rstStream);
    expect(resets).toEqual([]);
  });

  it.each<[string, () => Buffer[]]>([
    ['DATA', () => [data('late')]],
    ['DATA that ends it again', () => [data('late', FLAG.endStream)]],
    ['empty DATA', () => [data('', FLAG.endStream)]],
    ['another request', () => [start()]],
    ['trailers', () => [frame(FRAME.headers, HEAD, BAD, fieldBlock([['x-late', '1']]))]],
    ['much DATA', () => Array.from({ length: 20 }, () => data('x'.repeat(10_000)))],
  ])('%s after its end, also if the caller has reset it', async (_case, late) => {
    for (const over of [ENDED, RESET]) {
      await expectSiblingsServed([...over(), ...late()]);
      const answer = await abuse.connection.frame(FRAME.rstStream, BAD);
      expect(resetCode(answer.payload)).toBe(STREAM_CLOSED);
      const ofStream = abuse.connection.frames.filter(({ stream }) => stream === BAD);
      expect(ofStream).toHaveLength(1);
      await abuse.reconnect();
    }
  });

  it('gets back the window of the connection for DATA after its end', async () => {
    for (const over of [ENDED, RESET]) {
      const { connection } = abuse;
      connection.sendAll(over());
      const late = data('x'.repeat(10_000));
      for (let bytes = 10_000; bytes < 3 * FIRST_WINDOW; bytes += 10_000) {
        await eventually(() => {
          expect(bytes - givenBack(connection.frames)).toBeLessThanOrEqual(FIRST_WINDOW);
        });
        connection.sendAll([late]);
      }
      connection.send(FRAME.headers, HEAD, AFTER, abuse.request());
      await connection.frame(FRAME.headers, AFTER);
      const resets = connection.frames.filter(({ stream }) => stream === BAD);
      expect(resets.map(({ payload }) => resetCode(payload))).toEqual([STREAM_CLOSED]);
      expect(connection.frames.filter(({ type }) => type === FRAME.goAway)).toEqual([]);
      await abuse.reconnect();
    }
  });

  it('DATA after its end and after another error, which node:http2 handles later', async () => {
    const frames = [
      frame(FRAME.headers, HEAD, BAD, head('GET')),
      window(MAX_WINDOW),
      data('late'),
      window(0),
      data('late', FLAG.endStream),
    ];
    await expectSiblingsServed(frames);
    await abuse.connection.frame(FRAME.rstStream, BAD);
  });

  it('a window that is too large while its response is sent', async () => {
    const { connection } = abuse;
    const settings = Buffer.concat([Buffer.from([0, 4]), uint32(0)]);
    connection.send(FRAME.settings, 0, 0, settings);
    connection.send(FRAME.headers, HEAD, BAD, head('GET', ['x-canary', 'bad']));
    await connection.frame(FRAME.headers, BAD);
    // The window lets one byte of the body through, which counts.
    connection.sendAll([window(1)]);
    await connection.frame(FRAME.data, BAD);
    connection.sendAll([window(MAX_WINDOW), window(1)]);
    const last = connection.frames.findLast(
      ({ type, stream }) => type === FRAME.data && stream === BAD,
    );
    expect(last?.payload.toString()).toBe('o');
    connection.send(
      FRAME.settings,
      0,
      0,
      Buffer.concat([Buffer.from([0, 4]), uint32(FIRST_WINDOW)]),
    );
    connection.send(FRAME.headers, HEAD, AFTER, abuse.request(['x-canary', 'after']));
    await connection.frame(FRAME.headers, AFTER);
    expect(connection.closed).toBe(false);
  });

  it('often, which ends the connection', async () => {
    const frames: Buffer[] = [];
    for (let stream = 1; stream < 400; stream += 2) {
      frames.push(frame(FRAME.headers, FLAG.endHeaders, stream, head('POST', LENGTH_4)));
      frames.push(frame(FRAME.data, 0, stream, Buffer.from('123456')));
    }
    abuse.connection.sendAll(frames);
    await eventually(() => expect(abuse.connection.closed).toBe(true));
    await abuse.othersAreServed();
    expect(abuse.upstream.seen.filter(({ body }) => body !== '')).toEqual([]);
  });
});

describe('a stream that is reset in the read that opened it', () => {
  it.each<[string, () => Buffer[]]>([
    ['by its caller', () => [frame(FRAME.rstStream, 0, BAD, uint32(8))]],
    ['by the gateway', () => [window(0)]],
  ])('%s is no request: it has no record and reaches no upstream', async (_by, after) => {
    abuse.connection.sendAll([start(), ...after()]);
    await abuse.othersAreServed();
    expect(abuse.upstream.seen.map(({ headers }) => headers['x-canary'])).not.toContain('bad');
    expect(abuse.gateway.records.map(({ outcome }) => outcome)).not.toContain('client_aborted');
  });
});
