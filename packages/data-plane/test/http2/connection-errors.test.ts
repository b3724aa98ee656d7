import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { startUpstream } from '@gateway/shared/test/upstream';
import { HEAD, abuseOfHttp2, goAwayCode, pseudo, type Fields } from '../http2-abuse.ts';
import { FLAG, FRAME, fieldBlock, frame, frameConnection, uint32 } from '../http2-frames.ts';
import { startSecureDataPath } from '../secure-data-path.ts';

const PROTOCOL_ERROR = 1;
const FLOW_CONTROL_ERROR = 3;
const FRAME_SIZE_ERROR = 6;
const MAX_WINDOW = 2 ** 31 - 1;
const PADDED = 8;
/** The stream with an error of its own, and the one that opens after it. */
const [BEFORE, BAD] = [1, 3] as const;

const abuse = abuseOfHttp2();

const head = (method: string, ...more: Fields) =>
  fieldBlock([...pseudo(method), abuse.bearer(), ...more]);

const start = () => frame(FRAME.headers, FLAG.endHeaders, BAD, head('POST'));

const data = (text: string, flags = 0) => frame(FRAME.data, flags, BAD, Buffer.from(text));

const window = (increment: number, stream: number = BAD) =>
  frame(FRAME.windowUpdate, 0, stream, uint32(increment));

const setting = (id: number, value: number) =>
  frame(FRAME.settings, 0, 0, Buffer.concat([Buffer.from([0, id]), uint32(value)]));

const priority = (parent: number) => Buffer.concat([uint32(parent), Buffer.from([15])]);

describe('an error of an HTTP/2 connection ends it', () => {
  it.each<[string, number, () => Buffer[]]>([
    [
      'a priority without a stream',
      PROTOCOL_ERROR,
      () => [frame(FRAME.priority, 0, 0, priority(1))],
    ],
    ['a window update of 0 for the connection', PROTOCOL_ERROR, () => [window(0, 0)]],
    [
      'a window of the connection that is too large',
      FLOW_CONTROL_ERROR,
      () => [window(MAX_WINDOW, 0)],
    ],
    [
      'a window update of a wrong size',
      FRAME_SIZE_ERROR,
      () => [start(), frame(FRAME.windowUpdate, 0, BAD, Buffer.alloc(3))],
    ],
    ['a window update of a stream that was not opened', PROTOCOL_ERROR, () => [window(1, 9)]],
    ['DATA of a stream that was not opened', PROTOCOL_ERROR, () => [data('x')]],
    ['a ping of a wrong size', FRAME_SIZE_ERROR, () => [frame(FRAME.ping, 0, 0, Buffer.alloc(7))]],
    [
      'an answer to a ping of a wrong size',
      FRAME_SIZE_ERROR,
      () => [frame(FRAME.ping, FLAG.ack, 0, Buffer.alloc(7))],
    ],
    ['a ping on a stream', PROTOCOL_ERROR, () => [frame(FRAME.ping, FLAG.ack, 1, Buffer.alloc(8))]],
    [
      'a reset of a wrong size',
      FRAME_SIZE_ERROR,
      () => [start(), frame(FRAME.rstStream, 0, BAD, Buffer.alloc(3))],
    ],
    [
      'a reset of a stream that was not opened',
      PROTOCOL_ERROR,
      () => [frame(FRAME.rstStream, 0, BAD, uint32(8))],
    ],
    [
      'a stream with an even id',
      PROTOCOL_ERROR,
      () => [frame(FRAME.headers, HEAD, 2, head('GET'))],
    ],
    [
      'an answer to settings that were not sent',
      PROTOCOL_ERROR,
      () => [frame(FRAME.settings, FLAG.ack, 0), frame(FRAME.settings, FLAG.ack, 0)],
    ],
    ['settings on a stream', PROTOCOL_ERROR, () => [frame(FRAME.settings, 0, BAD)]],
    [
      'settings of a wrong size',
      FRAME_SIZE_ERROR,
      () => [frame(FRAME.settings, 0, 0, Buffer.alloc(5))],
    ],
    ['an invalid value of ENABLE_PUSH', PROTOCOL_ERROR, () => [setting(2, 2)]],
    ['an invalid value of MAX_FRAME_SIZE', PROTOCOL_ERROR, () => [setting(5, 1)]],
    ['a frame that is too large', FRAME_SIZE_ERROR, () => [start(), data('x'.repeat(16_385))]],
    ['DATA without a stream', PROTOCOL_ERROR, () => [frame(FRAME.data, 0, 0, Buffer.from('x'))]],
    ['GOAWAY on a stream', PROTOCOL_ERROR, () => [frame(FRAME.goAway, 0, BAD, Buffer.alloc(8))]],
    ['a CONTINUATION frame alone', PROTOCOL_ERROR, () => [frame(FRAME.continuation, 4, BAD)]],
    [
      'padding beyond its frame',
      PROTOCOL_ERROR,
      () => [start(), frame(FRAME.data, PADDED, BAD, Buffer.from([5, 1]))],
    ],
    [
      'an initial window that is too large',
      FLOW_CONTROL_ERROR,
      () => [frame(FRAME.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(2 ** 31)]))],
    ],
  ])('%s', async (_case, code, frames) => {
    // A stream error before it must not hide it.
    abuse.connection.sendAll([
      frame(FRAME.headers, FLAG.endHeaders, BEFORE, head('POST', ['content-length', '4'])),
      frame(FRAME.data, 0, BEFORE, Buffer.from('123456')),
      ...frames(),
    ]);
    const goAway = await abuse.connection.frame(FRAME.goAway);
    expect(goAwayCode(goAway.payload)).toBe(code);
    await eventually(() => expect(abuse.connection.closed).toBe(true));
    await abuse.othersAreServed();
    expect(await abuse.gateway.registry.metrics()).toMatch(
      /gateway_connections_ended_total\{reason="(ERR_HTTP2_ERROR|HTTP2_INVALID_FRAME)"\} [12]\n/,
    );
  });
});

describe('an HTTP/2 caller with the largest window', () => {
  it('may give back exactly what it was sent', async () => {
    const bytes = 3_000_000;
    const upstream = await startUpstream((_seen, response) =>
      response.end(Buffer.alloc(bytes, 'x')),
    );
    const gateway = await startSecureDataPath({ upstreams: [upstream.url] });
    const connection = await frameConnection(gateway.port, gateway.authority.certPem);
    try {
      const setting = Buffer.concat([Buffer.from([0, 4]), uint32(MAX_WINDOW)]);
      connection.send(FRAME.settings, 0, 0, setting);
      connection.sendAll([window(MAX_WINDOW - 65_535, 0)]);
      const fields = [...pseudo(), ['authorization', `Bearer ${gateway.token}`] as const];
      connection.send(FRAME.headers, HEAD, BAD, fieldBlock(fields));
      let read = 0;
      let received = 0;
      await eventually(
        () => {
          for (; read < connection.frames.length; read += 1) {
            const found = connection.frames[read];
            if (found?.type !== FRAME.data || found.payload.length === 0) continue;
            received += found.payload.length;
            if (found.flags !== FLAG.endStream) connection.sendAll([window(found.payload.length)]);
          }
          expect(received).toBe(bytes);
        },
        { intervalMs: 1 },
      );
      const types = new Set(connection.frames.map(({ type }) => type));
      expect([types.has(FRAME.rstStream), types.has(FRAME.goAway)]).toEqual([false, false]);
    } finally {
      connection.destroy();
      await gateway.stop();
      await upstream.close();
    }
  });
});
