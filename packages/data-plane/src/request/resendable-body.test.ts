import type { BodySink, BodySource, End } from '@gateway/http/exchange';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import { toBuffer } from '@gateway/http/message/body-bytes';
import { READ_BUFFER } from '@gateway/http/message/read-buffer';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createBodyBudget, type BodyStream } from './request-body.ts';
import { ResendableBody } from './resendable-body.ts';

const MAX_BYTES = 100;
const TRAILERS = ['x-sum', '7'];

/** A stream of a caller that sends what the test says, and only while it is not paused. */
function setUp(budgetBytes = 1000) {
  let sink: BodySink | undefined;
  let ended: End | undefined;
  const state = { isPaused: false, isDiscarded: false };
  const budget = createBodyBudget(budgetBytes);
  const stream: BodyStream = {
    get ended() {
      return ended;
    },
    begun: false,
    isRead: false,
    failure: undefined,
    budget,
    passTrailersFor: () => undefined,
    start(given) {
      if (sink !== undefined) throw new Error('it was started before');
      sink = given;
    },
    pause: () => void (state.isPaused = true),
    resume: () => void (state.isPaused = false),
    discard: () => void (state.isDiscarded = true),
  };
  const body = new ResendableBody(stream, MAX_BYTES);
  return {
    body,
    state,
    /** Whether the caller may send. */
    get flows() {
      return sink !== undefined && !state.isPaused && ended === undefined;
    },
    /** A part arrives, and the next read of another connection overwrites it. */
    receive(bytes: number, value: number, last = false) {
      READ_BUFFER.fill(value, 0, bytes);
      if (last) ended = 'complete';
      sink?.data(READ_BUFFER.subarray(0, bytes), last, last ? TRAILERS : undefined);
      READ_BUFFER.fill(255);
    },
    fail(end: End) {
      ended = end;
      sink?.failed(end);
    },
    /** What is reserved of the memory for bodies. */
    get reserved() {
      let left = 0;
      while (budget.reserve(1)) left += 1;
      budget.release(left);
      return budgetBytes - left;
    },
  };
}

/** An attempt that reads the body, and pauses it after a part if it is told to. */
function read(body: ResendableBody) {
  const source = body.forAttempt();
  const reader = {
    source,
    pausesNext: false,
    bytes: [] as number[],
    trailers: undefined as HeaderFields | undefined,
    end: undefined as End | undefined,
  };
  source.start({
    data(bytes, last, trailers) {
      reader.bytes.push(...toBuffer(bytes));
      reader.trailers = trailers;
      if (last) reader.end = 'complete';
      else if (reader.pausesNext) source.pause();
      reader.pausesNext = false;
    },
    failed: (end) => void (reader.end = end),
  });
  return reader;
}

const times = (count: number, value: number) => new Array<number>(count).fill(value);

describe('a body that can be sent again', () => {
  it('gives the next attempt what an earlier one got, then the rest', () => {
    const world = setUp();
    const first = read(world.body);
    world.receive(3, 1);
    world.body.detach();
    expect(world.state.isPaused).toBe(true);
    const next = read(world.body);
    expect([first.bytes, next.bytes]).toEqual([times(3, 1), times(3, 1)]);
    expect(world.flows).toBe(true);
    world.receive(2, 2, true);
    expect(next).toMatchObject({ bytes: [1, 1, 1, 2, 2], trailers: TRAILERS, end: 'complete' });
    expect(first.bytes).toEqual(times(3, 1));
  });

  it('also if all of it was sent, with its trailers, and also if there is nothing else of it', () => {
    for (const bytes of [0, 5]) {
      const world = setUp();
      read(world.body);
      world.receive(bytes, 1, true);
      world.body.detach();
      expect(world.body.canBeSent).toBe(true);
      const next = read(world.body);
      expect(next).toMatchObject({ bytes: times(bytes, 1), trailers: TRAILERS, end: 'complete' });
    }
  });

  it.each(['pause', 'resume', 'discard'] satisfies (keyof BodySource)[])(
    'is not affected by a late %s of the connection of an earlier attempt',
    (call) => {
      const world = setUp();
      const first = read(world.body);
      world.receive(1, 1);
      world.body.detach();
      const next = read(world.body);
      if (call === 'resume') next.source.pause();
      first.source[call]();
      expect(world.state).toEqual({ isPaused: call === 'resume', isDiscarded: false });
    },
  );

  it('is paused, and not discarded, when the connection of its attempt discards it', () => {
    const world = setUp();
    const first = read(world.body);
    world.receive(1, 1);
    first.source.discard();
    expect(world.state).toEqual({ isPaused: true, isDiscarded: false });
    world.body.keepNoMore();
    expect(world.state.isDiscarded).toBe(true);
  });

  it('is kept up to its bound, and goes on without it', () => {
    const world = setUp();
    const first = read(world.body);
    world.receive(MAX_BYTES, 1);
    expect([world.body.canBeSent, world.reserved]).toEqual([true, MAX_BYTES]);
    world.receive(1, 2);
    expect([world.body.canBeSent, world.reserved]).toEqual([false, 0]);
    world.receive(1, 3);
    expect(first.bytes).toEqual([...times(MAX_BYTES, 1), 2, 3]);
    first.source.discard();
    expect(world.state.isDiscarded).toBe(true);
  });

  it('is not kept without memory for it', () => {
    const world = setUp(10);
    const first = read(world.body);
    world.receive(10, 1);
    expect(world.body.canBeSent).toBe(true);
    world.receive(1, 2);
    expect([world.body.canBeSent, world.reserved]).toEqual([false, 0]);
    expect(first.bytes).toEqual([...times(10, 1), 2]);
  });

  it('of small parts needs at most twice as much memory as it has bytes', () => {
    const world = setUp();
    read(world.body);
    for (let count = 1; count <= MAX_BYTES; count += 1) {
      world.receive(1, count);
      expect(world.reserved).toBeGreaterThanOrEqual(count);
      expect(world.reserved).toBeLessThanOrEqual(2 * count);
    }
  });

  it('never goes on without its beginning', () => {
    const world = setUp();
    read(world.body);
    world.receive(1, 1);
    world.body.keepNoMore();
    expect(read(world.body)).toMatchObject({ bytes: [], end: 'cut_short' });
  });

  it('cannot be sent again once its caller has failed, and tells its reader', () => {
    const world = setUp();
    const first = read(world.body);
    world.receive(1, 1);
    world.fail('peer_left');
    expect([first.end, world.body.canBeSent]).toEqual(['peer_left', false]);
  });

  it('reaches every attempt whole and in order, whenever attempts end and pause, and gives back its memory', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('receive'), bytes: fc.integer({ min: 1, max: 9 }) }),
      fc.record({ kind: fc.constantFrom('pause', 'resume', 'next'), bytes: fc.constant(0) }),
    );
    const property = fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, ends) => {
      const world = setUp();
      const sent: number[] = [];
      let reader = read(world.body);
      const receive = (bytes: number, last = false) => {
        const value = sent.length % 250;
        sent.push(...times(bytes, value));
        world.receive(bytes, value, last);
      };
      for (const { kind, bytes } of steps) {
        if (kind === 'receive' && world.flows) receive(bytes);
        else if (kind === 'pause') reader.pausesNext = true;
        else if (kind === 'resume') reader.source.resume();
        else if (kind === 'next' && world.body.canBeSent) {
          if (ends) reader.source.discard();
          world.body.detach();
          expect(world.flows).toBe(false);
          reader = read(world.body);
        }
        expect(reader.bytes).toEqual(sent);
        const [least, most] = world.body.canBeSent ? [sent.length, MAX_BYTES] : [0, 0];
        expect(world.reserved).toBeGreaterThanOrEqual(least);
        expect(world.reserved).toBeLessThanOrEqual(most);
      }
      reader.source.resume();
      expect(world.flows).toBe(true);
      receive(1, true);
      expect(reader).toMatchObject({ bytes: sent, end: 'complete', trailers: TRAILERS });
      expect(world.body.canBeSent).toBe(sent.length <= MAX_BYTES);
      world.body.keepNoMore();
      expect(world.reserved).toBe(0);
    });
    fc.assert(property, { numRuns: 500 });
  });
});
