import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FLAG, FRAME, frame, uint32 } from '../../../test/http2-frames.ts';
import { SentFrames } from './sent-frames.ts';
import { OpenStreams } from './open-streams.ts';

const STREAMS = [1, 3, 5] as const;
const FREE_BYTES = 2 ** 31 - 1 - 65_535;

interface Sent {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly bytes: number;
}

const sent: fc.Arbitrary<Sent> = fc.record({
  type: fc.constantFrom(
    FRAME.data,
    FRAME.data,
    FRAME.headers,
    FRAME.settings,
    FRAME.ping,
    FRAME.rstStream,
  ),
  flags: fc.constantFrom(0, 0, 0, 0, FLAG.endStream),
  stream: fc.constantFrom(...STREAMS),
  bytes: fc.integer({ min: 0, max: 40 }),
});
const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 12 });

function opened() {
  const streams = new OpenStreams();
  for (const stream of STREAMS) streams.opened(stream);
  return streams;
}

function send(streams: OpenStreams, bytes: Buffer, parts: readonly number[]): number {
  let failures = 0;
  const frames = new SentFrames(streams, () => (failures += 1));
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = parts[index % parts.length] ?? 1;
    frames.sent(bytes.subarray(at, at + size));
    at += size;
  }
  return failures;
}

describe('the frames that are sent', () => {
  it('count for the window of their stream until it ends, however they are split', () => {
    fc.assert(
      fc.property(fc.array(sent, { maxLength: 20 }), sizes, (frames, parts) => {
        const streams = opened();
        const bytes = Buffer.concat(
          frames.map((one) => frame(one.type, one.flags, one.stream, Buffer.alloc(one.bytes))),
        );
        send(streams, bytes, parts);
        for (const stream of STREAMS) {
          const own = frames.filter((one) => one.stream === stream);
          const ends = own.some(
            ({ type, flags }) =>
              type === FRAME.rstStream ||
              ((type === FRAME.data || type === FRAME.headers) && flags === FLAG.endStream),
          );
          expect(streams.isOpen(stream)).toBe(!ends);
          if (ends) continue;
          const body = own.filter(({ type }) => type === FRAME.data);
          const sentBytes = body.reduce((sum, one) => sum + one.bytes, 0);
          expect(streams.enlarged(stream, FREE_BYTES + sentBytes)).toBe(true);
          expect(streams.enlarged(stream, 1)).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([1, 5, 17, 100])(
    'end the connection if GOAWAY has an error, in parts of %i bytes',
    (size) => {
      const goAway = (code: number) =>
        frame(FRAME.goAway, 0, 0, Buffer.concat([uint32(1), uint32(code)]));
      expect(send(opened(), Buffer.concat([goAway(0), goAway(0)]), [size])).toBe(0);
      expect(send(opened(), Buffer.concat([goAway(0), goAway(1)]), [size])).toBe(1);
    },
  );

  it('open no stream after GOAWAY, because node:http2 answers none', () => {
    const streams = opened();
    send(streams, frame(FRAME.goAway, 0, 0, Buffer.alloc(8)), [100]);
    streams.opened(7);
    expect([streams.isOpen(5), streams.isOpen(7), streams.isIdle(7)]).toEqual([true, false, false]);
  });
});
