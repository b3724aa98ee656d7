import { expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import fc from 'fast-check';
import { HEAD, abuseOfHttp2, pseudo } from '../http2-abuse.ts';
import { FLAG, FRAME, fieldBlock, frame, uint32 } from '../http2-frames.ts';

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
const MAX_WINDOW = 2 ** 31 - 1;

const RATE_LIMIT = {
  limit: 1_000_000,
  window_seconds: 3600,
  per: 'route',
  on_store_unavailable: 'share',
} as const;

const abuse = abuseOfHttp2({}, { rate_limit: RATE_LIMIT });

const head = (method: string) => fieldBlock([...pseudo(method), abuse.bearer()]);

const priority = (parent: number) => Buffer.concat([uint32(parent), Buffer.from([15])]);

type Make = (stream: number) => Buffer;

/** Frames that are wrong at most for their stream (RFC 9113 section 5.4.2). */
const FRAMES: Readonly<Record<string, Make>> = {
  data: (stream) => frame(FRAME.data, 0, stream, Buffer.from('part')),
  end: (stream) => frame(FRAME.data, FLAG.endStream, stream),
  trailers: (stream) => frame(FRAME.headers, HEAD, stream, fieldBlock([['x-late', '1']])),
  'trailers without an end': (stream) =>
    frame(FRAME.headers, FLAG.endHeaders, stream, fieldBlock([['x-late', '1']])),
  request: (stream) => frame(FRAME.headers, HEAD, stream, head('GET')),
  'invalid field': (stream) => frame(FRAME.headers, HEAD, stream, fieldBlock([['x-late', 'a ']])),
  reset: (stream) => frame(FRAME.rstStream, 0, stream, uint32(8)),
  'window update': (stream) => frame(FRAME.windowUpdate, 0, stream, uint32(1000)),
  'window update of 0': (stream) => frame(FRAME.windowUpdate, 0, stream, uint32(0)),
  'largest window update': (stream) => frame(FRAME.windowUpdate, 0, stream, uint32(MAX_WINDOW)),
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
      await abuse.reconnect();
      const { connection } = abuse;
      connection.send(FRAME.headers, FLAG.endHeaders, SIBLING, head('POST'));
      const frames = requests.map(([method, length], index) => {
        const flags = FLAG.endHeaders | (method === 'GET' ? FLAG.endStream : 0);
        const more = length === null ? [] : [['content-length', length] as const];
        const fields = [...pseudo(method), abuse.bearer(), ...more];
        return frame(FRAME.headers, flags, STREAMS[index] ?? 0, fieldBlock(fields));
      });
      frames.push(...steps.map(({ kind, stream }) => FRAMES[kind]?.(stream) ?? Buffer.alloc(0)));
      const bytes = Buffer.concat(frames);
      for (let at = 0, index = 0; at < bytes.length; index += 1) {
        const size = sizes[index % sizes.length] ?? 1;
        connection.sendAll([bytes.subarray(at, at + size)]);
        at += size;
      }
      connection.send(FRAME.data, FLAG.endStream, SIBLING, Buffer.from('sibling'));
      const answer = await connection.frame(FRAME.data, SIBLING);
      expect(answer.payload.toString()).toBe('ok');
      connection.send(FRAME.headers, HEAD, 99, head('GET'));
      await connection.frame(FRAME.headers, 99);
      expect(connection.frames.filter(({ type }) => type === FRAME.goAway)).toEqual([]);
      expect(connection.closed).toBe(false);
    }),
    fuzzSettings(fuzz),
  );
  await eventually(async () => expect(await abuse.gateway.inFlight()).toBe(0));
}, 60_000);
