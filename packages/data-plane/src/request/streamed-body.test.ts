import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { READ_BUFFER } from '@gateway/http/message/read-buffer';
import { ConnectionGuard } from '@gateway/http/connection-guard';
import { WaitingBody } from '@gateway/http/message/waiting-body';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { TimeAccount } from './time-account.ts';
import { IncomingBody } from './incoming-body.ts';
import { createBodyBudget, type BodyStream } from './request-body.ts';
import type { TrailerContext } from './trailers.ts';

const IDLE_MS = 1000;
const NO_LIMIT = 1e9;

/** A chunked body that streams after more than `keepBytes` of it have arrived. */
function setUp(keepBytes: number) {
  let held = false;
  const errors: unknown[] = [];
  const connection = {
    gate: {
      holdBody: (hold: boolean) => void (held = hold),
      dropped: () => undefined,
      consumed: () => undefined,
    },
    guard: new ConnectionGuard({ destroy: () => undefined }, (error) => void errors.push(error)),
  };
  const arriving = new WaitingBody(connection);
  const exchange = { head: { framing: { kind: 'chunked' } }, body: arriving, connection };
  const clock = manualClock();
  const options = { bodyBudget: createBodyBudget(NO_LIMIT), clock, bodyIdleTimeoutMs: IDLE_MS };
  const times = new TimeAccount(clock.monotonicMs());
  const body = new IncomingBody(exchange as never, false, times, options);
  const upload = {
    max_upload_ms: NO_LIMIT,
    min_upload_bytes_per_second: 0,
    body_idle_timeout_ms: null,
  };
  const limits = { maxBytes: NO_LIMIT, keepBytes, request: { status: undefined }, upload };
  const taken = body.take(limits);
  const sent: Buffer[] = [];
  return {
    clock,
    times,
    sent,
    errors,
    held: () => held,
    /** Bytes arrive, and the next read of another connection overwrites them. */
    receive(bytes: number) {
      const value = sent.length % 250;
      READ_BUFFER.fill(value, 0, bytes);
      sent.push(Buffer.alloc(bytes, value));
      arriving.received(READ_BUFFER.subarray(0, bytes), false);
      READ_BUFFER.fill(0xff);
    },
    end: (trailers?: HeaderFields) => arriving.received('', true, trailers),
    async stream(): Promise<BodyStream> {
      const result = await taken;
      if (result.kind !== 'stream') throw new Error('the body does not stream');
      times.enter('upstream', clock.monotonicMs());
      return result.stream;
    },
  };
}

/** Reads the stream as an attempt does. It pauses after a chunk for which `pausesNext` was set. */
function read(stream: BodyStream, pausesNext = false) {
  const got: Buffer[] = [];
  const trailers = undefined as HeaderFields | undefined;
  const reader = { got, ended: false, pausesNext, isPaused: false, trailers };
  stream.start({
    data(bytes, last, after) {
      if (bytes.length > 0) reader.got.push(Buffer.from(bytes));
      reader.ended = last;
      reader.trailers = after;
      reader.isPaused = reader.pausesNext;
      if (reader.pausesNext) stream.pause();
      reader.pausesNext = false;
    },
    failed: () => undefined,
  });
  return reader;
}

/** Resumes the reader until it got what has arrived. */
function readAll(stream: BodyStream): void {
  for (let count = 0; count < 3; count += 1) stream.resume();
}

describe('the trailers of a body that streams', () => {
  /** A request of a route that changes nothing. */
  const request = {
    inbound: { connection: '' },
    route: undefined,
    version: undefined,
    affinity: undefined,
  } as unknown as TrailerContext;

  it.each([
    ['have arrived before it is read', true],
    ['arrive while it is read', false],
  ])('come with its end if they %s, and only those that pass', async (_when, isBefore) => {
    for (const sender of [request, undefined]) {
      const world = setUp(1000);
      world.receive(2000);
      const stream = await world.stream();
      if (sender !== undefined) stream.passTrailersFor(sender);
      const trailers = ['x-sum', '7', 'cookie', 'a=b'];
      if (isBefore) world.end(trailers);
      const reader = read(stream, true);
      stream.resume();
      if (!isBefore) world.end(trailers);
      expect(reader.ended).toBe(true);
      // Without a request they are dropped.
      expect(reader.trailers).toEqual(sender && ['x-sum', '7']);
    }
  });
});

describe('a body that streams when more of it has arrived than is kept', () => {
  it('goes on after a pause in what was kept', async () => {
    const world = setUp(64 * 1024);
    for (const bytes of [60_000, 20_000]) world.receive(bytes);
    const stream = await world.stream();
    const reader = read(stream, true);
    expect(reader.got).toHaveLength(1);
    stream.resume();
    world.receive(5000);
    world.end();
    expect(reader.ended).toBe(true);
    expect(Buffer.concat(reader.got).equals(Buffer.concat(world.sent))).toBe(true);
  });

  it.each([0, 1000])('keeps what arrives before it is read, beyond %i bytes', async (keepBytes) => {
    const world = setUp(keepBytes);
    world.receive(2000);
    const stream = await world.stream();
    world.receive(2000);
    const reader = read(stream, true);
    if (!world.held()) world.receive(2000);
    stream.resume();
    world.end();
    expect(reader.ended).toBe(true);
    expect(Buffer.concat(reader.got).equals(Buffer.concat(world.sent))).toBe(true);
  });

  it('joins small chunks that arrive before it is read', async () => {
    const world = setUp(1000);
    world.receive(1001);
    const stream = await world.stream();
    for (let count = 0; count < 2000; count += 1) world.receive(1);
    const reader = read(stream);
    world.end();
    expect(reader.ended).toBe(true);
    expect(Buffer.concat(reader.got).equals(Buffer.concat(world.sent))).toBe(true);
    expect(reader.got.length).toBeLessThanOrEqual(2);
  });

  it('does not blame the caller when the first chunk has paused it', async () => {
    const world = setUp(0);
    world.receive(60_000);
    const stream = await world.stream();
    read(stream, true);
    expect(world.times.isReceiving).toBe(false);
    world.clock.advance(IDLE_MS * 5);
    expect(stream.failure).toBeUndefined();
  });

  it('arrives whole and in order, whenever its reader begins and pauses', async () => {
    const bytes = fc.oneof(fc.integer({ min: 1, max: 65_536 }), fc.constantFrom(1, 65_536));
    const step = fc.oneof(
      fc.record({ kind: fc.constant('receive'), bytes }),
      fc.record({ kind: fc.constantFrom('pause', 'resume'), bytes: fc.constant(0) }),
    );
    const steps = fc.array(step, { maxLength: 40 });
    const kept = fc.constantFrom(0, 100, 70_000);
    // The steps before the reader begins; often none.
    const waits = fc.oneof(fc.constant(0), fc.nat(20));
    const property = fc.asyncProperty(steps, kept, waits, async (all, keepBytes, wait) => {
      const world = setUp(keepBytes);
      world.receive(keepBytes + 1 > READ_BUFFER.length ? READ_BUFFER.length : keepBytes + 1);
      if (keepBytes >= READ_BUFFER.length) world.receive(keepBytes + 1 - READ_BUFFER.length);
      const stream = await world.stream();
      let reader: ReturnType<typeof read> | undefined;
      for (const [index, { kind, bytes }] of all.entries()) {
        if (index === wait) reader = read(stream);
        // A connection whose body is held is not read.
        if (kind === 'receive' && !world.held()) world.receive(bytes);
        else if (kind === 'pause' && reader !== undefined) reader.pausesNext = true;
        // As on `drain`: a resume at any other time would hide that the stream does not ask for more.
        else if (kind === 'resume' && reader?.isPaused === true) stream.resume();
      }
      reader ??= read(stream);
      readAll(stream);
      // Otherwise a hang: what has arrived was not read, or the caller is not asked for more.
      expect(world.times.isReceiving).toBe(true);
      world.end();
      expect(reader.ended).toBe(true);
      expect(Buffer.concat(reader.got).equals(Buffer.concat(world.sent))).toBe(true);
    });
    await fc.assert(property, { numRuns: 300 });
  });
});

it('ends its connection if its timer throws', async () => {
  const world = setUp(0);
  read(await world.stream());
  world.clock.advance(IDLE_MS / 2);
  world.receive(1);
  const bug = new Error('a bug');
  world.clock.setTimer = () => {
    throw bug;
  };
  world.clock.advance(IDLE_MS);
  expect(world.errors).toEqual([bug]);
});
