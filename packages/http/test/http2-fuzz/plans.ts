import fc from 'fast-check';
import { FLAG, FRAME, SETTING } from '../../src/http2/protocol.ts';
import {
  data,
  frame,
  HEAD,
  literal,
  pseudo,
  reset,
  settings,
  uint32,
  type Fields,
} from '../http2-frames.ts';

/** One request and its response, as a random test has planned it. */
export interface Plan {
  readonly method: 'GET' | 'POST' | 'HEAD';
  /** Fields with the form of their literals (RFC 7541 section 6.2). */
  readonly fields: [form: number, name: string, value: string][];
  /** Where the block of the request is cut into CONTINUATION frames. */
  readonly cuts: number[];
  readonly headPadding: number | null;
  /** The frames of the body. */
  readonly body: { readonly size: number; readonly padding: number | null }[];
  readonly isAnnounced: boolean;
  /** How the request ends: `reset` instead of its last frame. */
  readonly end: 'last' | 'empty' | 'trailers' | 'reset';
  /** Whether the response begins before the body has arrived. */
  readonly isEarly: boolean;
  /** Whether the reader of the body pauses after each part. */
  readonly pauses: boolean;
  /** Sizes of the parts of the response. */
  readonly parts: number[];
  readonly responseEnd: 'last' | 'empty' | 'trailers' | 'abort';
}

const name = fc.oneof(
  fc.constantFrom('accept', 'x-a', 'x-b', 'via'),
  fc.stringMatching(/^x-[a-z0-9-]{0,10}$/),
);
const value = fc.oneof(
  fc.constantFrom('', 'a', 'c'.repeat(300)),
  fc.stringMatching(/^[\x21-\x7e\x80-\xff]{0,50}$/),
);
const padding = fc.option(fc.constantFrom(0, 1, 100, 255), { freq: 2 });
const size = fc.oneof(fc.constantFrom(0, 1, 9, 100), fc.nat(4000));

/** At most 30 000 bytes of body for a connection of six: its first window is not exceeded. */
export const plan: fc.Arbitrary<Plan> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'POST', 'POST', 'HEAD'),
  fields: fc.array(fc.tuple(fc.constantFrom(0, 0x40, 0x10), name, value), { maxLength: 8 }),
  cuts: fc.array(fc.nat(300), { maxLength: 3 }),
  headPadding: padding,
  body: fc.array(fc.record({ size: size.map((bytes) => bytes >> 2), padding }), { maxLength: 5 }),
  isAnnounced: fc.boolean(),
  end: fc.constantFrom('last', 'last', 'empty', 'trailers', 'reset'),
  isEarly: fc.boolean(),
  pauses: fc.boolean(),
  parts: fc.array(fc.oneof(size, fc.constantFrom(16_384, 20_000)), { maxLength: 4 }),
  responseEnd: fc.constantFrom('last', 'last', 'empty', 'trailers', 'abort'),
});

const PATTERN = Buffer.from(Array.from({ length: 100_000 }, (_none, index) => (index * 7) % 251));

/** Bytes that differ by stream and position. */
function bytesOf(stream: number, length: number): Buffer {
  return PATTERN.subarray(stream, stream + length);
}

export const bodyOf = ({ body, method }: Plan, stream: number): Buffer =>
  bytesOf(stream, method === 'POST' ? body.reduce((sum, part) => sum + part.size, 0) : 0);

export const responseOf = ({ parts, method }: Plan, stream: number): Buffer =>
  bytesOf(stream, method === 'HEAD' ? 0 : parts.reduce((sum, bytes) => sum + bytes, 0));

/** What the handler of the request gets, apart from pseudo-header fields. */
export function fieldsOf(one: Plan, stream: number): Fields {
  const fields: [string, string][] = one.fields.map(([, text, own]) => [text, own]);
  if (one.method === 'POST' && one.isAnnounced) {
    fields.push(['content-length', String(bodyOf(one, stream).length)]);
  }
  return fields;
}

/** The frames of a request, in units that nothing may come between. */
export function requestFrames(one: Plan, stream: number): Buffer[] {
  const length = fieldsOf(one, stream).slice(one.fields.length);
  const block = Buffer.concat([
    ...pseudo(one.method, `/${stream}`).map(([text, own]) => literal(0x40, text, own)),
    ...one.fields.map(([form, text, own]) => literal(form, text, own)),
    ...length.map(([text, own]) => literal(0, text, own)),
  ]);
  if (one.method !== 'POST')
    return [head(block, one, stream, FLAG.endStream), ...last(one, stream)];
  const endsWithHead = one.end === 'last' && one.body.length === 0;
  const frames = [head(block, one, stream, endsWithHead ? FLAG.endStream : 0)];
  const all = bodyOf(one, stream);
  let at = 0;
  for (const [index, { size: bytes, padding: pad }] of one.body.entries()) {
    const ends = one.end === 'last' && index === one.body.length - 1;
    const payload = all.subarray(at, at + bytes);
    frames.push(padded(FRAME.data, ends ? FLAG.endStream : 0, stream, payload, pad));
    at += bytes;
  }
  return [...frames, ...last(one, stream)];
}

function last({ end, method }: Plan, stream: number): Buffer[] {
  if (end === 'reset') return [reset(8, stream)];
  if (method !== 'POST' || end === 'last') return [];
  if (end === 'empty') return [data('', FLAG.endStream, stream)];
  return [frame(FRAME.headers, HEAD, stream, literal(0x40, 'x-sum', String(stream)))];
}

function head(block: Buffer, { cuts, headPadding }: Plan, stream: number, flags: number): Buffer {
  const ends = [...cuts.filter((cut) => cut < block.length).sort((a, b) => a - b), block.length];
  const frames = ends.map((end, index) => {
    const part = block.subarray(ends[index - 1] ?? 0, end);
    const isLast = index === ends.length - 1 ? FLAG.endHeaders : 0;
    if (index > 0) return frame(FRAME.continuation, isLast, stream, part);
    return padded(FRAME.headers, flags | isLast, stream, part, headPadding);
  });
  return Buffer.concat(frames);
}

function padded(type: number, flags: number, stream: number, bytes: Buffer, pad: number | null) {
  if (pad === null) return frame(type, flags, stream, bytes);
  const payload = Buffer.concat([Buffer.from([pad]), bytes, Buffer.alloc(pad)]);
  return frame(type, flags | FLAG.padded, stream, payload);
}

/** Frames that may come at any time and change how much this end may send, or nothing. */
export const between = fc.oneof(
  fc.record({
    kind: fc.constant('window' as const),
    value: fc.constantFrom(0, 1, 50, 5000, 65_535),
  }),
  fc.record({ kind: fc.constant('table' as const), value: fc.constantFrom(0, 64, 4096, 10_000) }),
  fc.record({ kind: fc.constant('ping' as const), value: fc.nat(255) }),
  fc.record({ kind: fc.constant('priority' as const), value: fc.nat(255) }),
  fc.record({ kind: fc.constant('unknown' as const), value: fc.nat(255) }),
);
export type Between = { readonly kind: string; readonly value: number };

/** One of these frames. */
export function betweenFrame({ kind, value }: Between): Buffer {
  if (kind === 'window') return settings([SETTING.initialWindowSize, value]);
  if (kind === 'table') return settings([SETTING.headerTableSize, value]);
  if (kind === 'ping') return frame(FRAME.ping, 0, 0, Buffer.alloc(8, value));
  return kind === 'priority' ? priority(value) : frame(0xf0, value, 0, Buffer.alloc(value));
}

const priority = (weight: number) =>
  frame(FRAME.priority, 0, 1, Buffer.concat([uint32(0), Buffer.from([weight])]));
