import { expect, it, jest } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import fc from 'fast-check';
import { FLAG, FRAME } from '../../src/http2/protocol.ts';
import { WindowBudget } from '../../src/http2/window-budget.ts';
import { answer, http2ClientEachTest, type Exchange } from '../http2-client-world.ts';
import { data, fieldBlock, frame, HEAD, reset, windowUpdate } from '../http2-frames.ts';
import { between, betweenFrame, type Between } from './plans.ts';

/** How a server answers one request, and how its reader reads. */
interface Response {
  readonly interim: number;
  readonly parts: { readonly size: number; readonly padding: number | null }[];
  readonly isAnnounced: boolean;
  readonly end: 'last' | 'empty' | 'trailers' | 'reset' | 'refused';
  readonly pauses: boolean;
  readonly isCancelled: boolean;
}
/** A byte of all that the server sends, and what it becomes. */
type Change = readonly [at: number, value: number];
interface Input {
  readonly responses: Response[];
  readonly between: Between[];
  /** Whose frame is the next one, by streams that have frames left. */
  readonly order: number[];
  readonly cuts: number[];
  readonly changes: Change[];
}

const fuzz = openFuzz<Input>(new URL('responses.kept.json', import.meta.url), 150);
const budgets = jest.spyOn(WindowBudget.prototype, 'begin');
const world = http2ClientEachTest();
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

const bodyOf = ({ parts }: Response, id: number) =>
  Buffer.alloc(
    parts.reduce((sum, { size }) => sum + size, 0),
    `${id}abcdef`,
  );

function framesOf(one: Response, id: number): Buffer[] {
  if (one.end === 'refused') return [reset(7, id)];
  const body = bodyOf(one, id);
  const length = one.isAnnounced ? [['content-length', String(body.length)] as const] : [];
  const hint = frame(FRAME.headers, FLAG.endHeaders, id, fieldBlock([[':status', '103']]));
  const frames = [...Array.from({ length: one.interim }, () => hint)];
  frames.push(answer(id, FLAG.endHeaders, length));
  let at = 0;
  for (const { size, padding } of one.parts) {
    const part = body.subarray(at, at + size);
    at += size;
    if (padding === null) frames.push(data(part, 0, id));
    else {
      const padded = Buffer.concat([Buffer.from([padding]), part, Buffer.alloc(padding)]);
      frames.push(frame(FRAME.data, FLAG.padded, id, padded));
    }
  }
  if (one.end === 'reset') frames.push(reset(2, id));
  else if (one.end === 'trailers') {
    frames.push(frame(FRAME.headers, HEAD, id, fieldBlock([['x-sum', String(id)]])));
  } else if (one.end === 'empty' || one.parts.length === 0) {
    frames.push(data('', FLAG.endStream, id));
  } else {
    const last = Buffer.from(frames.at(-1) ?? '');
    last[4] = (last[4] ?? 0) | FLAG.endStream;
    frames[frames.length - 1] = last;
  }
  return frames;
}

/** All frames, in an order that keeps those of each stream, with what is changed. */
function bytesOf({ responses, between: others, order, changes }: Input): Buffer {
  const queues = responses.map((one, index) => framesOf(one, 2 * index + 1));
  queues.push(others.map(betweenFrame));
  const frames: Buffer[] = [];
  for (let turn = 0; queues.some(({ length }) => length > 0); turn += 1) {
    const left = queues.filter(({ length }) => length > 0);
    const next = left[(order[turn % order.length] ?? 0) % left.length]?.shift();
    if (next !== undefined) frames.push(next);
  }
  const bytes = Buffer.concat(frames);
  for (const [at, value] of changes) if (bytes.length > 0) bytes[at % bytes.length] = value;
  return bytes;
}

/** Reads in one of several ways. */
function read(exchange: Exchange, { pauses, isCancelled }: Response): void {
  const taken = exchange.data.bind(exchange);
  exchange.data = (bytes, last, trailers) => {
    taken(bytes, last, trailers);
    if (isCancelled) exchange.stream?.cancel();
    else if (pauses && !last) {
      exchange.stream?.pause();
      setImmediate(() => exchange.stream?.resume());
    }
  };
}

async function run(input: Input): Promise<void> {
  const { connection, peer } = await world.connect();
  const sibling = await world.connect();
  const budget = budgets.mock.contexts.at(-1) as WindowBudget;
  const exchanges = input.responses.map((one) => {
    const exchange = world.send(connection, { method: 'POST', body: 'request' });
    read(exchange, one);
    return exchange;
  });
  await peer.frame(FRAME.headers, 2 * exchanges.length - 1);
  const bytes = bytesOf(input);
  for (let at = 0, turn = 0; at < bytes.length && !peer.isClosed; turn += 1) {
    const size = Math.max(input.cuts[turn % input.cuts.length] ?? 1, bytes.length >> 4);
    peer.send(bytes.subarray(at, at + size));
    at += size;
    await nextTurn();
  }
  if (input.changes.length === 0) {
    for (const [index, exchange] of exchanges.entries()) {
      await expectPlanned(exchange, input.responses[index] as Response, 2 * index + 1);
    }
    await peer.settled();
    expect([connection.free, world.ended]).toEqual([100, []]);
  }
  peer.destroy();
  await eventually(() => expect(connection.socket.destroyed).toBe(true), { intervalMs: 0 });
  await eventually(() => expect(world.client.size).toBe(1), { intervalMs: 0 });
  await nextTurn();
  expect(connection.carried).toBe(0);
  expect(world.internalErrors).toEqual([]);
  const other = world.send(sibling.connection);
  await sibling.peer.frame(FRAME.headers, 1);
  sibling.peer.send(answer(1, HEAD), windowUpdate(1, 0));
  expect(await other.ended()).toBe('complete');
  sibling.peer.destroy();
  await eventually(() => expect(world.client.size).toBe(0), { intervalMs: 0 });
  expect(budget.left).toBe(64 * 1024 * 1024);
  world.ended.length = 0;
}

async function expectPlanned(exchange: Exchange, one: Response, id: number): Promise<void> {
  if (one.end === 'refused') expect(await exchange.ended()).toEqual(['refused_stream', false]);
  else if (one.isCancelled && exchange.calls.includes('data')) {
    expect(exchange.end).toBeUndefined();
  } else {
    const end = await exchange.ended();
    if (one.end === 'reset') {
      expect([end].flat()[0]).toMatch(/reset|invalid_response/);
      return;
    }
    expect(end).toBe('complete');
    expect(exchange.hinted).toHaveLength(one.interim);
    if (one.isCancelled) return;
    expect(exchange.body.equals(bodyOf(one, id))).toBe(true);
    const trailers = one.end === 'trailers' ? ['x-sum', String(id)] : undefined;
    expect(exchange.trailers).toEqual(trailers);
  }
}

const response = fc.record({
  interim: fc.nat(3),
  parts: fc.array(
    fc.record({
      size: fc.oneof(fc.constantFrom(0, 1, 511, 512, 9000), fc.nat(3000)),
      padding: fc.option(fc.constantFrom(0, 1, 255), { freq: 2 }),
    }),
    { maxLength: 5 },
  ),
  isAnnounced: fc.boolean(),
  end: fc.constantFrom('last', 'last', 'empty', 'trailers', 'reset', 'refused'),
  pauses: fc.boolean(),
  isCancelled: fc.constantFrom(false, false, false, true),
});
const inputs = (changes: fc.Arbitrary<[number, number][]>) =>
  fc.record({
    responses: fc.array(response, { minLength: 1, maxLength: 6 }),
    between: fc.array(between, { maxLength: 4 }),
    order: fc.array(fc.nat(10), { minLength: 1, maxLength: 20 }),
    cuts: fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 1, maxLength: 6 }),
    changes,
  }) as fc.Arbitrary<Input>;

it('responses in any frames, cuts and order are what the server has planned', async () => {
  await fc.assert(fc.asyncProperty(inputs(fc.constant([])), run), fuzzSettings(fuzz));
});

it('bytes that are wrong in any way end at most their connection, and leave nothing behind', async () => {
  const change = fc.tuple(fc.nat(0xffff), fc.nat(255));
  const changes = fc.array(change, { minLength: 1, maxLength: 6 });
  await fc.assert(fc.asyncProperty(inputs(changes), run), fuzzSettings(fuzz));
});
