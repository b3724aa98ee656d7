import { expect, it, jest } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import fc from 'fast-check';
import type { ServerExchange } from '../../src/exchange.ts';
import { FLAG, FRAME } from '../../src/http2/protocol.ts';
import { WindowBudget } from '../../src/http2/window-budget.ts';
import { frame, get, PREFACE, settings, windowUpdate, type FrameClient } from '../http2-frames.ts';
import { serveHttp2EachTest } from '../http2-world.ts';
import { between, betweenFrame, plan, requestFrames, type Between, type Plan } from './plans.ts';

/** A change of one frame: which one, and with what. */
interface Mutation {
  readonly kind: keyof typeof MUTATIONS;
  readonly at: number;
  readonly value: number;
}
interface Input {
  readonly plans: Plan[];
  readonly between: Between[];
  readonly mutations: Mutation[];
  readonly cuts: number[];
}
const fuzz = openFuzz<Input>(new URL('frames.kept.json', import.meta.url), 150);

const budgets = jest.spyOn(WindowBudget.prototype, 'begin');
const world = serveHttp2EachTest();

/** What the other connection asks for. */
const SIBLING = '/';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

function withByte(bytes: Buffer, at: number, value: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at % bytes.length] = value;
  return changed;
}

/** What a mutation makes of a frame, at least nine bytes, and a number below 2 ** 16. */
const MUTATIONS = {
  byte: (bytes, value) => [withByte(bytes, value >> 8, value)],
  bit: (bytes, value) => {
    const at = (value >> 3) % bytes.length;
    return [withByte(bytes, at, (bytes[at] ?? 0) ^ (1 << (value & 7)))];
  },
  length: (bytes, value) => [withByte(bytes, 2, value)],
  type: (bytes, value) => [withByte(bytes, 3, value % 11)],
  flags: (bytes, value) => [withByte(bytes, 4, value)],
  stream: (bytes, value) => [withByte(bytes, 8, value % 16)],
  drop: () => [],
  repeat: (bytes) => [bytes, bytes],
  cut: (bytes, value) => [bytes.subarray(0, value % bytes.length)],
  grow: (bytes, value) => [bytes, Buffer.alloc(value % 100, value)],
  empty: (bytes, value) => [bytes, frame(value % 11, value >> 8, (value >> 4) % 16)],
  reset: (bytes, value) => [bytes, frame(FRAME.rstStream, 0, value % 16, Buffer.alloc(4))],
  window: (bytes, value) => [bytes, windowUpdate((value % 3) * 2 ** 30, value % 16)],
} satisfies Record<string, (bytes: Buffer, value: number) => Buffer[]>;

function mutated({ plans, between: others, mutations }: Input): Buffer {
  const frames = [
    settings(),
    frame(FRAME.settings, FLAG.ack, 0),
    ...plans.flatMap((one, index) => requestFrames(one, 2 * index + 1)),
    ...others.map(betweenFrame),
  ];
  for (const { kind, at, value } of mutations) {
    const index = at % Math.max(1, frames.length);
    const bytes = frames[index];
    if (bytes === undefined || bytes.length === 0) continue;
    frames.splice(index, 1, ...MUTATIONS[kind](bytes, value));
    // Some move too.
    if (value % 5 === 0) frames.push(...frames.splice(index, 1));
  }
  return Buffer.concat([PREFACE, ...frames]);
}

/** Reads the body in one of several ways, and answers with more than the caller lets it send. */
function answer(exchange: ServerExchange): void {
  const { url } = exchange.head;
  const way = url.charCodeAt(1) % 3;
  const respond = () => {
    exchange.respond(200, '', [], false);
    exchange.send(Buffer.alloc(url === SIBLING ? 10 : 100_000), true);
  };
  if (way === 0 || url === SIBLING) respond();
  if (way === 1) return;
  exchange.body.start({
    data(_bytes, last) {
      if (last) respond();
      else exchange.body.pause();
      setImmediate(() => {
        exchange.body.resume();
      });
    },
    failed: () => undefined,
  });
}

async function run(sibling: FrameClient, stream: number, input: Input): Promise<void> {
  const budget = budgets.mock.contexts.at(-1) as WindowBudget;
  const { left } = budget;
  const bytes = mutated(input);
  const client = await world.open();
  const { cuts } = input;
  for (let at = 0, turn = 0; at < bytes.length && !client.isClosed; turn += 1) {
    const size = Math.max(cuts[turn % cuts.length] ?? 1, bytes.length >> 4);
    client.send(bytes.subarray(at, at + size));
    at += size;
    await nextTurn();
  }
  sibling.frames.length = 0;
  sibling.send(get(stream));
  await sibling.frame(FRAME.headers, stream);
  client.destroy();
  await eventually(() => expect(world.server.size).toBe(1), { intervalMs: 0 });
  expect([world.internalErrors, sibling.isClosed]).toEqual([[], false]);
  expect(world.ended.splice(0).length).toBeLessThanOrEqual(1);
  const open = world.seen.splice(0).filter(({ end }) => end === undefined);
  // The sibling's own exchange may still be on its way out.
  expect(open.filter(({ exchange }) => exchange.head.url !== SIBLING)).toHaveLength(0);
  expect(budget.left).toBe(left);
}

it('frames that are wrong in any way end at most their connection, and leave nothing behind', async () => {
  world.onExchange = answer;
  const sibling = await world.connect();
  sibling.send(frame(FRAME.settings, FLAG.ack, 0), windowUpdate(2 ** 30, 0));
  await sibling.settled();
  const mutation = fc.record({
    kind: fc.constantFrom(...(Object.keys(MUTATIONS) as Mutation['kind'][])),
    at: fc.nat(60),
    value: fc.nat(0xffff),
  });
  const inputs = fc.record({
    plans: fc.array(plan, { minLength: 1, maxLength: 5 }),
    between: fc.array(between, { maxLength: 4 }),
    mutations: fc.array(mutation, { minLength: 1, maxLength: 6 }),
    cuts: fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 1, maxLength: 6 }),
  });
  let stream = -1;
  const property = (input: Input) => run(sibling, (stream += 2), input);
  await fc.assert(fc.asyncProperty(inputs, property), fuzzSettings(fuzz));
});
