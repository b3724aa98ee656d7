import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { ENHANCE_YOUR_CALM, HEAD, abuseOfHttp2, goAwayCode, pseudo } from '../http2-abuse.ts';
import { FLAG, FRAME, fieldBlock, frame } from '../http2-frames.ts';

const MAX_RESETS = 20;

const abuse = abuseOfHttp2({
  HTTP2_MAX_RESETS_PER_MINUTE: String(MAX_RESETS),
  HTTP2_MAX_CONCURRENT_STREAMS: '10',
  MAX_HEADER_BYTES: '8192',
});

describe('an HTTP/2 caller that floods', () => {
  const resets = (count: number) =>
    Array.from({ length: count }, (_none, index) => [
      frame(FRAME.headers, HEAD, 2 * index + 1, abuse.request()),
      frame(FRAME.rstStream, 0, 2 * index + 1, Buffer.from([0, 0, 0, 8])),
    ]).flat();

  it('with resets gets GOAWAY at the limit (CVE-2023-44487)', async () => {
    // Not many more than the limit, because the kernel drops answers if bytes stay unread.
    abuse.connection.sendAll(resets(MAX_RESETS + 2));
    const goAway = await abuse.connection.frame(FRAME.goAway);
    expect(goAwayCode(goAway.payload)).toBe(ENHANCE_YOUR_CALM);
    await eventually(() => expect(abuse.connection.closed).toBe(true));
    await abuse.othersAreServed();
  });

  it('with resets is disconnected, however many arrive at once', async () => {
    abuse.connection.sendAll(resets(200));
    await eventually(() => expect(abuse.connection.closed).toBe(true));
    await eventually(async () => expect(await abuse.gateway.inFlight()).toBe(0));
    expect(abuse.upstream.seen).toEqual([]);
    expect(await abuse.gateway.registry.metrics()).toMatch(
      /gateway_connections_ended_total\{reason="HTTP2_RESETS"\} 1/,
    );
    await abuse.othersAreServed();
  });

  it('with streams that the gateway must reset is disconnected too (CVE-2025-8671)', async () => {
    const frames: Buffer[] = [];
    const fields = fieldBlock([...pseudo('POST'), abuse.bearer(), ['content-length', '9']]);
    for (let stream = 1; stream < 400; stream += 2) {
      frames.push(frame(FRAME.headers, FLAG.endHeaders, stream, fields));
      frames.push(frame(FRAME.data, FLAG.endStream, stream, Buffer.from('short')));
    }
    abuse.connection.sendAll(frames);
    await eventually(() => expect(abuse.connection.closed).toBe(true));
    await eventually(async () => expect(await abuse.gateway.inFlight()).toBe(0));
    expect(abuse.upstream.seen).toEqual([]);
    expect(abuse.gateway.records.length).toBeLessThanOrEqual(100);

    await abuse.othersAreServed();
  });

  it('with more simultaneous streams than allowed gets the rest refused', async () => {
    const settings = await abuse.connection.frame(FRAME.settings);
    const values = new Map<number, number>();
    for (let at = 0; at < settings.payload.length; at += 6) {
      values.set(settings.payload.readUInt16BE(at), settings.payload.readUInt32BE(at + 2));
    }
    // RFC 9113 section 6.5.2: MAX_CONCURRENT_STREAMS, MAX_HEADER_LIST_SIZE; RFC 8441: 8.
    expect([values.get(3), values.get(6), values.get(8)]).toEqual([10, 4 * 8192, 1]);
    const fields = fieldBlock([...pseudo('POST'), abuse.bearer()]);
    const frames: Buffer[] = [];
    for (let stream = 1; stream < 80; stream += 2) {
      frames.push(frame(FRAME.headers, FLAG.endHeaders, stream, fields));
    }
    abuse.connection.sendAll(frames);
    await eventually(() => {
      const gone = abuse.connection.frames.filter(
        ({ type }) => type === FRAME.rstStream || type === FRAME.goAway,
      );
      expect(gone.length).toBeGreaterThan(0);
    });
    expect(await abuse.gateway.inFlight()).toBeLessThanOrEqual(10);
    abuse.connection.destroy();
    await abuse.othersAreServed();
  });

  it('with endless CONTINUATION frames is disconnected (CVE-2024-27316)', async () => {
    const frames = [frame(FRAME.headers, FLAG.endStream, 1, abuse.request())];
    const more = fieldBlock([['x-more', 'y'.repeat(1000)]]);
    for (let index = 0; index < 500; index += 1) frames.push(frame(FRAME.continuation, 0, 1, more));
    abuse.connection.sendAll(frames);
    await eventually(() => expect(abuse.connection.closed).toBe(true));
    expect(abuse.upstream.seen).toEqual([]);
    await abuse.othersAreServed();
  });

  it('with too large fields is refused', async () => {
    abuse.connection.send(FRAME.headers, HEAD, 1, abuse.request(['x-large', 'y'.repeat(10_000)]));
    const { payload } = await abuse.connection.frame(FRAME.data, 1);
    expect(payload.toString()).toContain('"code":"header_fields_too_large"');
    await abuse.othersAreServed();
    const canaries = abuse.upstream.seen.map(({ headers }) => headers['x-canary']);
    expect(canaries.filter((canary) => canary === undefined)).toEqual([]);
  });

  it.each([
    ['pings', () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
    ['settings', () => frame(FRAME.settings, 0, 0, Buffer.from([0, 4, 0, 0, 255, 255]))],
  ])('with %s and reads nothing is disconnected', async (_case, make) => {
    abuse.connection.socket.pause();
    const flood = Buffer.concat(Array.from({ length: 20_000 }, make));
    for (let round = 0; round < 20 && !abuse.connection.closed; round += 1)
      abuse.connection.socket.write(flood);
    await eventually(() => {
      abuse.connection.socket.resume();
      expect(abuse.connection.closed).toBe(true);
    });
    await abuse.othersAreServed();
  });
});
