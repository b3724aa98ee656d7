import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { frame } from '../../test/http2-frames.ts';
import { FrameReader } from './frame-reader.ts';
import { writeFrameHead } from './frame-writer.ts';
import { ERROR, MAX_FRAME_BYTES, PREFACE } from './protocol.ts';

type Read = [type: number, flags: number, stream: number, payload: string];

function reader(expectsPreface = false) {
  const read: Read[] = [];
  const frames = new FrameReader((type, flags, stream, bytes, start, end) => {
    read.push([type, flags, stream, bytes.toString('hex', start, end)]);
  }, expectsPreface);
  return { frames, read };
}

/** Cuts bytes into pieces of these sizes, the last one again and again. Each piece is overwritten after it was read. */
function feed(frames: FrameReader, bytes: Buffer, sizes: readonly number[]): number {
  for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
    const size = sizes[Math.min(piece, sizes.length - 1)] ?? 1;
    const view = Buffer.from(bytes.subarray(at, at + size));
    const error = frames.read(view);
    if (error !== ERROR.noError) return error;
    view.fill(0xee);
    at += size;
  }
  return ERROR.noError;
}

const oneFrame = fc.tuple(
  fc.nat(255),
  fc.nat(255),
  fc.nat(2 ** 31 - 1),
  fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.nat(MAX_FRAME_BYTES).map((n) => new Uint8Array(n)),
  ),
);
const sizes = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 20 });

describe('frames', () => {
  it('are read as they were written, however they are cut', () => {
    fc.assert(
      fc.property(
        fc.array(oneFrame, { maxLength: 8 }),
        sizes,
        fc.boolean(),
        (all, cuts, preface) => {
          const { frames, read } = reader(preface);
          const bytes = all.map(([type, flags, stream, payload]) => {
            const head = Buffer.alloc(9);
            expect(writeFrameHead(head, 0, payload.length, type, flags, stream)).toBe(9);
            const whole = Buffer.concat([head, payload]);
            expect(whole).toEqual(frame(type, flags, stream, Buffer.from(payload)));
            return whole;
          });
          const sent = Buffer.concat([...(preface ? [PREFACE] : []), ...bytes]);
          expect(feed(frames, sent, cuts)).toBe(ERROR.noError);
          expect(read).toEqual(
            all.map(([type, flags, stream, payload]) => [
              type,
              flags,
              stream,
              Buffer.from(payload).toString('hex'),
            ]),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([[[1]], [[10]], [[100_000]]])(
    'that are too large are refused before they have arrived, in pieces of %j bytes',
    (cuts) => {
      const { frames, read } = reader();
      const head = Buffer.alloc(9);
      writeFrameHead(head, 0, MAX_FRAME_BYTES + 1, 0, 0, 1);
      const bytes = Buffer.concat([frame(6, 0, 0, Buffer.alloc(8)), head]);
      expect(feed(frames, bytes, cuts)).toBe(ERROR.frameSizeError);
      expect(read).toHaveLength(1);
    },
  );

  it('are not read after another preface', () => {
    for (let at = 0; at < PREFACE.length; at += 1) {
      const wrong = Buffer.from(PREFACE);
      wrong[at] = 0x21;
      for (const cut of [1, 7, 100]) {
        const { frames, read } = reader(true);
        const bytes = Buffer.concat([wrong, frame(4, 0, 0)]);
        expect(feed(frames, bytes, [cut])).toBe(ERROR.protocolError);
        expect(read).toEqual([]);
      }
    }
  });

  it('stay valid if they arrive in parts, because what waits of a body keeps them', () => {
    const payloads: Buffer[] = [];
    const frames = new FrameReader((_type, _flags, _stream, bytes, start, end) => {
      payloads.push(bytes.subarray(start, end));
    }, false);
    const all = ['a', 'b', 'c'].map((letter) => frame(0, 0, 1, Buffer.alloc(100, letter)));
    for (const one of all) {
      for (let at = 0; at < one.length; at += 20) frames.read(one.subarray(at, at + 20));
    }
    expect(payloads.map(String)).toEqual(['a', 'b', 'c'].map((letter) => letter.repeat(100)));
  });

  it('are not read after the reader was stopped', () => {
    const read: number[] = [];
    const frames = new FrameReader((type) => {
      read.push(type);
      frames.isStopped = true;
    }, false);
    frames.read(Buffer.concat([frame(6, 0, 0), frame(7, 0, 0)]));
    frames.read(frame(8, 0, 0));
    expect(read).toEqual([6]);
  });
});
