import { expect, it, jest } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import fc from 'fast-check';
import type { ServerExchange } from '../../src/exchange.ts';
import { ERROR, FIRST_WINDOW, FLAG, FRAME } from '../../src/http2/protocol.ts';
import { WindowBudget } from '../../src/http2/window-budget.ts';
import { frame, PREFACE, settings, windowUpdate, type FrameClient } from '../http2-frames.ts';
import { serveHttp2EachTest } from '../http2-world.ts';
import {
  between,
  betweenFrame,
  bodyOf,
  fieldsOf,
  plan,
  requestFrames,
  responseOf,
  type Between,
  type Plan,
} from './plans.ts';

interface Input {
  readonly plans: Plan[];
  /** Which request goes on next. */
  readonly order: number[];
  readonly between: Between[];
  /** The sizes of what is written at once. */
  readonly cuts: number[];
  /** By how much windows are enlarged at once. */
  readonly step: number;
}
const fuzz = openFuzz<Input>(new URL('exchanges.kept.json', import.meta.url), 60);

const BUDGET = 64 * 1024 * 1024;
const budgets = jest.spyOn(WindowBudget.prototype, 'begin');
const world = serveHttp2EachTest({ maxWindowBytes: BUDGET });

const ACKNOWLEDGEMENT = frame(FRAME.settings, FLAG.ack, 0);

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** What has arrived of the body of a stream, and the fields of its head. */
interface Seen {
  readonly fields: readonly string[];
  body: Buffer;
  isWhole: boolean;
}

/** Answers as planned. Returns what has arrived, by stream. */
function answerAsPlanned(plans: readonly Plan[]): Map<number, Seen> {
  const all = new Map<number, Seen>();
  world.onExchange = (exchange) => {
    const stream = Number(exchange.head.url.slice(1));
    const one = plans[(stream - 1) / 2];
    if (one === undefined) throw new Error(`no plan for ${exchange.head.url}`);
    const seen: Seen = { fields: exchange.head.fields, body: Buffer.alloc(0), isWhole: false };
    all.set(stream, seen);
    if (one.isEarly) answer(exchange, one, stream);
    exchange.body.start({
      data(bytes, last) {
        seen.body = Buffer.concat([seen.body, Buffer.from(bytes as string, 'latin1')]);
        seen.isWhole = last;
        if (last && !one.isEarly) answer(exchange, one, stream);
        if (!one.pauses || last) return;
        exchange.body.pause();
        setImmediate(() => {
          exchange.body.resume();
        });
      },
      failed: () => undefined,
    });
  };
  return all;
}

function answer(exchange: ServerExchange, one: Plan, stream: number): void {
  exchange.respond(200, '', ['x-stream', String(stream)], false);
  const body = responseOf({ ...one, method: 'GET' }, stream);
  let at = 0;
  for (const [index, size] of one.parts.entries()) {
    const ends = one.responseEnd === 'last' && index === one.parts.length - 1;
    exchange.send(body.subarray(at, at + size), ends);
    at += size;
  }
  if (one.responseEnd === 'abort') exchange.abort('cut_short');
  else if (one.responseEnd === 'trailers') exchange.send('', true, ['x-end', 'a']);
  else if (one.responseEnd === 'empty' || one.parts.length === 0) exchange.send('', true);
}

/** The frames of all requests in their order, with others between them. */
function framesOf({ plans, order, between: others }: Input): Buffer[] {
  const waiting = plans.map((one, index) => requestFrames(one, 2 * index + 1));
  // Streams begin in the order of their ids.
  const frames = waiting.flatMap((units) => units.splice(0, 1));
  for (let turn = 0; waiting.some((units) => units.length > 0); turn += 1) {
    const left = waiting.filter((units) => units.length > 0);
    frames.push(...(left[(order[turn % order.length] ?? 0) % left.length]?.splice(0, 1) ?? []));
  }
  for (const [index, other] of others.entries()) {
    frames.splice((index * 5 + other.value) % (frames.length + 1), 0, betweenFrame(other));
  }
  return frames;
}

async function send(client: FrameClient, bytes: Buffer, cuts: readonly number[]): Promise<void> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = Math.max(cuts[turn % cuts.length] ?? 1, bytes.length >> 5);
    client.send(bytes.subarray(at, at + size));
    at += size;
    await nextTurn();
  }
}

const bytesOf = (client: FrameClient, stream: number) =>
  client.of(FRAME.data, stream).reduce((sum, { payload }) => sum + payload.length, 0);

const isOver = (client: FrameClient, stream: number) =>
  client.frames.some(
    ({ type, flags, stream: id }) =>
      id === stream &&
      (type === FRAME.rstStream || (type <= FRAME.headers && (flags & FLAG.endStream) !== 0)),
  );

/** Enlarges windows step by step until all streams are over. No more is ever sent than was allowed. */
async function readAll(client: FrameClient, { plans, step, between: others }: Input) {
  const windows = others.filter(({ kind }) => kind === 'window').map(({ value }) => value);
  const first = Math.max(FIRST_WINDOW, ...windows);
  const ids = plans.map((_one, index) => 2 * index + 1);
  const open = ids.filter((id) => plans[(id - 1) / 2]?.end !== 'reset');
  const deadlineMs = performance.now() + 10_000;
  let given = 0;
  for (let turn = 0; open.some((id) => !isOver(client, id)); turn += 1) {
    const isLate = performance.now() > deadlineMs;
    if (isLate || client.isClosed) throw new Error(`not over: ${open.join()}`);
    const more = turn < 100 ? step : 100_000;
    if (turn < 200) {
      client.send(windowUpdate(more, 0), ...open.map((id) => windowUpdate(more, id)));
      given += more;
    }
    await nextTurn();
    const sizes = ids.map((id) => bytesOf(client, id));
    const all = sizes.reduce((sum, size) => sum + size, 0);
    const isAllowed = Math.max(...sizes) <= first + given && all <= FIRST_WINDOW + given;
    if (!isAllowed) throw new Error(`more than was allowed: ${sizes.join()} of ${given}`);
  }
}

function check(client: FrameClient, one: Plan, stream: number, seen: Seen | undefined): void {
  if (one.end === 'reset') {
    if (seen !== undefined) {
      expect(bodyOf(one, stream).subarray(0, seen.body.length).equals(seen.body)).toBe(true);
    }
    return;
  }
  expect(seen?.fields).toEqual(['host', 'gateway.test', ...fieldsOf(one, stream).flat()]);
  const [response, trailers] = client.of(FRAME.headers, stream);
  const body = Buffer.concat(client.of(FRAME.data, stream).map(({ payload }) => payload));
  const resets = client.of(FRAME.rstStream, stream).map(({ payload }) => payload.readUInt32BE(0));
  const ends = one.responseEnd;
  if (ends === 'abort') {
    expect(resets).toEqual([ERROR.internalError]);
    return;
  }
  expect(response && client.fields(response)).toMatchObject({
    ':status': '200',
    'x-stream': String(stream),
  });
  expect(body.equals(responseOf(one, stream))).toBe(true);
  const hasTrailers = ends === 'trailers' && one.method !== 'HEAD';
  expect(trailers && client.fields(trailers)).toEqual(hasTrailers ? { 'x-end': 'a' } : undefined);
  // A response that is complete before its request resets the stream, without an error.
  if (!one.isEarly) {
    expect(seen?.isWhole).toBe(true);
    expect(seen?.body.equals(bodyOf(one, stream))).toBe(true);
  }
  expect(resets.filter((code) => code !== ERROR.noError)).toEqual([]);
}

async function run(input: Input): Promise<void> {
  const seen = answerAsPlanned(input.plans);
  const client = await world.open();
  try {
    await exchange(client, input, seen);
  } finally {
    client.destroy();
    await eventually(() => expect(world.server.size).toBe(0), { intervalMs: 0 });
    const open = world.seen.splice(0).filter(({ end }) => end === undefined);
    expect(open).toHaveLength(0);
  }
  expect((budgets.mock.contexts.at(-1) as WindowBudget).left).toBe(BUDGET);
}

async function exchange(client: FrameClient, input: Input, seen: Map<number, Seen>): Promise<void> {
  const frames = framesOf(input);
  await send(client, Buffer.concat([PREFACE, settings(), ACKNOWLEDGEMENT, ...frames]), input.cuts);
  await readAll(client, input);
  await client.settled();
  for (const [index, one] of input.plans.entries()) {
    check(client, one, 2 * index + 1, seen.get(2 * index + 1));
  }
  expect([client.of(FRAME.goAway), world.ended, world.internalErrors]).toEqual([[], [], []]);
  // All that was sent is given back, up to a half of the window that is not worth a frame.
  const sent = frames
    .filter((one) => one[3] === FRAME.data)
    .reduce((sum, one) => sum + one.length - 9, 0);
  const given = client
    .of(FRAME.windowUpdate, 0)
    .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0);
  expect(FIRST_WINDOW + given - sent).toBeGreaterThanOrEqual(512 * 1024);
}

it('valid exchanges in any frames, order, cuts, windows and settings give what was planned', async () => {
  const inputs = fc.record({
    plans: fc.array(plan, { minLength: 1, maxLength: 6 }),
    order: fc.array(fc.nat(5), { minLength: 1, maxLength: 20 }),
    between: fc.array(between, { maxLength: 6 }),
    cuts: fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.nat(5000)), {
      minLength: 1,
      maxLength: 10,
    }),
    step: fc.constantFrom(700, 3000, 20_000, 1_000_000),
  });
  await fc.assert(fc.asyncProperty(inputs, run), fuzzSettings(fuzz));
});
