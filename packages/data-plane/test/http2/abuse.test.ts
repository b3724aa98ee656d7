import { describe, expect, it } from '@jest/globals';
import {
  data,
  ERROR,
  fieldBlock,
  FLAG,
  frame,
  FRAME,
  reset,
  SETTING,
} from '@gateway/http/test/http2-frames';
import { eventually } from '@gateway/shared/test/eventually';
import { abuseOfHttp2, errorCode } from '../http2-abuse.ts';

/** The tests of the engine have every kind of flood and each limit; these are the limits that the gateway sets, and the marks on it. */
const MAX_RESETS = 20;

const abuse = abuseOfHttp2({
  HTTP2_MAX_RESETS_PER_MINUTE: String(MAX_RESETS),
  HTTP2_MAX_CONCURRENT_STREAMS: '10',
  MAX_HEADER_BYTES: '8192',
});

async function expectEnded(reason: string): Promise<void> {
  await eventually(() => expect(abuse.connection.isClosed).toBe(true));
  await eventually(async () => expect(await abuse.gateway.inFlight()).toBe(0));
  expect(abuse.seen()).toEqual([]);
  expect(await abuse.gateway.registry.metrics()).toContain(
    `gateway_connections_ended_total{reason="${reason}"} 1\n`,
  );
  await abuse.othersAreServed();
}

const streams = (count: number, frames: (stream: number) => readonly Buffer[]) =>
  Array.from({ length: count }, (_none, index) => frames(2 * index + 1)).flat();

describe('an HTTP/2 caller', () => {
  it('that resets streams gets GOAWAY at the limit (CVE-2023-44487)', async () => {
    // Not many more than the limit, because the kernel drops answers if bytes stay unread.
    const frames = streams(MAX_RESETS + 2, (stream) => [abuse.get(stream), reset(8, stream)]);
    abuse.connection.send(...frames);
    const goAway = await abuse.connection.frame(FRAME.goAway);
    expect(errorCode(goAway)).toBe(ERROR.enhanceYourCalm);
    await expectEnded('HTTP2_RESETS');
  });

  it.each<[string, (stream: number) => Buffer[]]>([
    ['that it resets', (stream) => [abuse.get(stream), reset(8, stream)]],
    [
      'that the gateway must reset (CVE-2025-8671)',
      (stream) => [
        abuse.post(stream, ['content-length', '9']),
        data('short', FLAG.endStream, stream),
      ],
    ],
  ])('with many streams at once %s reaches no upstream', async (_by, frames) => {
    abuse.connection.send(...streams(200, frames));
    await expectEnded('HTTP2_RESETS');
    expect(abuse.gateway.records.filter(({ outcome }) => outcome !== 'success')).toEqual([]);
  });

  it('with endless CONTINUATION frames is disconnected (CVE-2024-27316)', async () => {
    const more = fieldBlock([['x-more', 'y'.repeat(1000)]]);
    const frames = Array.from({ length: 500 }, () => frame(FRAME.continuation, 0, 1, more));
    abuse.connection.send(frame(FRAME.headers, FLAG.endStream, 1), ...frames);
    await expectEnded('HTTP2_FLOOD');
  });

  it.each([
    ['reads nothing', true],
    ['reads the replies', false],
  ])('that sends pings and %s is disconnected', async (_how, isPaused) => {
    const { connection } = abuse;
    if (isPaused) connection.socket.pause();
    const pings = Buffer.concat(
      Array.from({ length: 20_000 }, () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))),
    );
    for (let round = 0; round < 20 && !connection.isClosed; round += 1) connection.send(pings);
    await eventually(() => {
      connection.socket.resume();
      expect(connection.isClosed).toBe(true);
    });
    await abuse.othersAreServed();
  });

  it('learns the limits of the gateway, and gets the streams above them refused', async () => {
    const { payload } = await abuse.connection.frame(FRAME.settings);
    const values = new Map<number, number>();
    for (let at = 0; at < payload.length; at += 6) {
      values.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
    }
    expect([...values]).toEqual(
      expect.arrayContaining([
        [SETTING.maxConcurrentStreams, 10],
        [SETTING.maxHeaderListSize, 4 * 8192],
        [SETTING.enableConnectProtocol, 1],
      ]),
    );
    abuse.connection.send(...streams(12, (stream) => [abuse.post(stream)]));
    const refused = await abuse.connection.frame(FRAME.rstStream, 21);
    expect(errorCode(refused)).toBe(ERROR.refusedStream);
    expect(await abuse.gateway.inFlight()).toBe(10);
  });
});
