import { expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import fc from 'fast-check';
import {
  data,
  fieldBlock,
  frame,
  get,
  HEAD,
  post,
  reset,
  uint32,
  windowUpdate,
} from '../../test/http2-frames.ts';
import { serveHttp2EachTest } from '../../test/http2-world.ts';
import { FLAG, FRAME, MAX_WINDOW } from './protocol.ts';

type Opening = readonly [method: string, length: string | null];
/** What a caller sends: the requests of the streams, the frames after them, and the sizes of the pieces. */
interface Input {
  readonly requests: [Opening, Opening, Opening];
  readonly steps: { kind: string; stream: (typeof STREAMS)[number] }[];
  readonly sizes: number[];
}
const fuzz = openFuzz<Input>(new URL('stream-fuzz.kept.json', import.meta.url), 200);

const SIBLING = 1;
/** The streams that open before the frames; later ones may open among them. */
const STREAMS = [3, 5, 7] as const;

const world = serveHttp2EachTest({ limits: { maxResetsPerMinute: 10_000 } });

const priority = (parent: number) => Buffer.concat([uint32(parent), Buffer.from([15])]);
const late = (value: string) => fieldBlock([['x-late', value]]);

type Make = (stream: number) => Buffer;

/** Frames that are wrong at most for their stream (RFC 9113 section 5.4.2). */
const FRAMES: Readonly<Record<string, Make>> = {
  data: (stream) => data('part', 0, stream),
  end: (stream) => data('', FLAG.endStream, stream),
  trailers: (stream) => frame(FRAME.headers, HEAD, stream, late('1')),
  'trailers without an end': (stream) => frame(FRAME.headers, FLAG.endHeaders, stream, late('1')),
  request: (stream) => get(stream),
  'invalid field': (stream) => frame(FRAME.headers, HEAD, stream, late('a ')),
  reset: (stream) => reset(8, stream),
  'window update': (stream) => windowUpdate(1000, stream),
  'window update of 0': (stream) => windowUpdate(0, stream),
  'largest window update': (stream) => windowUpdate(MAX_WINDOW, stream),
  priority: (stream) => frame(FRAME.priority, 0, stream, priority(0)),
  'priority on itself': (stream) => frame(FRAME.priority, 0, stream, priority(stream)),
  'short priority': (stream) => frame(FRAME.priority, 0, stream, Buffer.alloc(4)),
  'ping answer': () => frame(FRAME.ping, FLAG.ack, 0, Buffer.alloc(8)),
};

const step = fc.record({
  kind: fc.constantFrom(...Object.keys(FRAMES)),
  stream: fc.constantFrom(...STREAMS),
});

/** Each stream with the method and length of its request. */
const opening = fc.constantFrom<Opening>(
  ['GET', null],
  ['POST', null],
  ['POST', '4'],
  ['POST', '6'],
);

it('frames that are wrong for their stream never end its connection, in whatever order they come', async () => {
  const openings = fc.tuple(opening, opening, opening);
  const cuts = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 6 });
  const inputs = fc.record({
    requests: openings,
    steps: fc.array(step, { maxLength: 25 }),
    sizes: cuts,
  });
  await fc.assert(
    fc.asyncProperty(inputs, async ({ requests, steps, sizes }) => {
      const client = await world.connect();
      client.send(post(SIBLING));
      const frames = requests.map(([method, length], index) => {
        const id = STREAMS[index] ?? 0;
        if (method === 'GET') return get(id);
        return post(id, length === null ? [] : [['content-length', length]]);
      });
      frames.push(...steps.map(({ kind, stream }) => FRAMES[kind]?.(stream) ?? Buffer.alloc(0)));
      const bytes = Buffer.concat(frames);
      for (let at = 0, index = 0; at < bytes.length; index += 1) {
        const size = sizes[index % sizes.length] ?? 1;
        client.send(bytes.subarray(at, at + size));
        at += size;
      }
      client.send(data('sibling', FLAG.endStream, SIBLING));
      expect(await client.body(SIBLING)).toBe('sibling');
      client.send(get(99));
      await client.ended(99);
      expect(client.of(FRAME.goAway)).toEqual([]);
      expect(client.isClosed).toBe(false);
      client.destroy();
    }),
    fuzzSettings(fuzz),
  );
  await eventually(() => expect(world.seen.filter(({ end }) => end === undefined)).toEqual([]));
  expect(world.internalErrors).toEqual([]);
}, 60_000);
