import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { READ_BUFFER } from '@gateway/http1/message/read-buffer';
import { ConnectionGuard } from '@gateway/http1/connection-guard';
import { ServerRequest } from '@gateway/http1/server/request';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { TimeAccount } from './time-account.ts';
import { IncomingBody } from './incoming-body.ts';
import { createBodyBudget, type BodyStream } from './request-body.ts';

const IDLE_MS = 1000;
const NO_LIMIT = 1e9;
/** What the stream asks for, what was kept before it streamed, and a read. */
const MAX_QUEUED_BYTES = 64 * 1024 + 70_001 + READ_BUFFER.length;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A chunked body that streams after more than `keepBytes` of it have arrived. */
function setUp(keepBytes: number) {
  let held = false;
  const errors: unknown[] = [];
  const connection = {
    socket: new Socket(),
    holdBody: (hold: boolean) => void (held = hold),
    dropped: () => undefined,
    guard: new ConnectionGuard({ destroy: () => undefined }, (error) => void errors.push(error)),
  };
  const head = { method: 'PUT', url: '/', httpVersion: '1.1', framing: { kind: 'chunked' } };
  const request = new ServerRequest(head as never, connection);
  const clock = manualClock();
  const options = { bodyBudget: createBodyBudget(NO_LIMIT), clock, bodyIdleTimeoutMs: IDLE_MS };
  const body = new IncomingBody(request, undefined, new TimeAccount(0), options);
  const taken = body.take({ maxBytes: NO_LIMIT, keepBytes, deadlineMs: NO_LIMIT });
  const sent: Buffer[] = [];
  return {
    request,
    clock,
    sent,
    errors,
    held: () => held,
    /** Bytes arrive, and the next read of another connection overwrites them. */
    receive(bytes: number) {
      const value = sent.length % 250;
      READ_BUFFER.fill(value, 0, bytes);
      sent.push(Buffer.alloc(bytes, value));
      request.received(READ_BUFFER.subarray(0, bytes));
      READ_BUFFER.fill(0xff);
    },
    async stream(): Promise<BodyStream> {
      const result = await taken;
      if (result.kind !== 'stream') throw new Error('the body does not stream');
      return result.stream;
    },
  };
}

/** Reads the stream as an attempt does. It pauses after a chunk for which `pausesNext` was set. */
function read(stream: BodyStream) {
  const reader = { got: [] as Buffer[], ended: false, pausesNext: false };
  stream.on('data', (chunk: Buffer) => {
    reader.got.push(Buffer.from(chunk));
    if (reader.pausesNext) stream.pause();
    reader.pausesNext = false;
  });
  stream.on('end', () => void (reader.ended = true));
  return reader;
}

/** Waits until the reader got what has arrived. It may pause once more. */
async function readAll(stream: BodyStream): Promise<void> {
  for (let count = 0; count < 3; count += 1) {
    await turn();
    if (stream.isPaused()) stream.resume();
  }
  await turn();
}

describe('a reader of a body that streams', () => {
  it.each<[string, (stream: BodyStream) => unknown]>([
    ['a readable listener', (stream) => stream.on('readable', () => undefined)],
    ['one readable event', (stream) => stream.once('readable', () => undefined)],
    ['addListener', (stream) => stream.addListener('readable', () => undefined)],
    ['read', (stream) => void stream.read()],
    ['read during a pause', (stream) => void stream.pause().read(1)],
    ['an iterator', (stream) => stream.toArray()],
    ['pipe', (stream) => stream.pipe(new Writable())],
    ['pipeline', (stream) => pipeline(stream, new Writable())],
  ])('gets an error instead of waiting for ever with %s', async (_case, use) => {
    const world = setUp(1000);
    world.receive(2000);
    const stream = await world.stream();
    await expect(async () => await use(stream)).rejects.toThrow('data listeners only');
  });
});

describe('a body that streams when more of it has arrived than is kept', () => {
  it('goes on after a pause in what was kept', async () => {
    const world = setUp(64 * 1024);
    for (const bytes of [60_000, 20_000]) world.receive(bytes);
    const stream = await world.stream();
    const reader = read(stream);
    reader.pausesNext = true;
    await turn();
    expect(reader.got).toHaveLength(1);
    stream.resume();
    await turn();
    world.receive(5000);
    world.request.ended();
    await turn();
    expect(reader.ended).toBe(true);
    expect(Buffer.concat(reader.got).equals(Buffer.concat(world.sent))).toBe(true);
  });

  it.each([0, 1000])('keeps what arrives before it is read, beyond %i bytes', async (keepBytes) => {
    const world = setUp(keepBytes);
    world.receive(2000);
    const stream = await world.stream();
    await turn();
    world.receive(2000);
    const reader = read(stream);
    reader.pausesNext = true;
    await turn();
    if (!world.held()) world.receive(2000);
    stream.resume();
    await turn();
    world.request.ended();
    await turn();
    expect(reader.ended).toBe(true);
    expect(Buffer.concat(reader.got).equals(Buffer.concat(world.sent))).toBe(true);
  });

  it('joins small chunks that arrive before it is read', async () => {
    const world = setUp(1000);
    world.receive(1001);
    const stream = await world.stream();
    for (let count = 0; count < 2000; count += 1) {
      world.receive(1);
      await turn();
    }
    const reader = read(stream);
    await turn();
    world.request.ended();
    await turn();
    expect(reader.ended).toBe(true);
    expect(Buffer.concat(reader.got).equals(Buffer.concat(world.sent))).toBe(true);
    expect(reader.got.length).toBeLessThanOrEqual(2);
  });

  it('does not blame the caller when the first chunk has paused it', async () => {
    const world = setUp(0);
    world.receive(60_000);
    const stream = await world.stream();
    read(stream).pausesNext = true;
    await turn();
    await turn();
    expect([stream.isPaused(), world.request.isPaused()]).toEqual([true, true]);
    expect(stream.awaitsCaller).toBe(false);
    world.clock.advance(IDLE_MS * 5);
    expect(stream.failure).toBeUndefined();
  });

  it('tells for how long its reader has taken nothing', async () => {
    const world = setUp(0);
    world.receive(60_000);
    const stream = await world.stream();
    const reader = read(stream);
    world.clock.advance(100);
    expect(stream.refusedMs).toBe(0);
    reader.pausesNext = true;
    await turn();
    await turn();
    world.clock.advance(200);
    expect(stream.refusedMs).toBe(200);
    stream.resume();
    expect(stream.refusedMs).toBe(0);
    stream.pause();
    world.clock.advance(300);
    stream.destroy();
    world.clock.advance(400);
    expect(stream.refusedMs).toBe(300);
  });

  it('arrives whole and in order, whenever its reader begins and pauses', async () => {
    const bytes = fc.oneof(fc.integer({ min: 1, max: 65_536 }), fc.constantFrom(1, 65_536));
    const step = fc.oneof(
      fc.record({ kind: fc.constant('receive'), bytes }),
      fc.record({ kind: fc.constantFrom('turn', 'pause', 'resume'), bytes: fc.constant(0) }),
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
        else if (kind === 'turn') await turn();
        else if (kind === 'pause' && reader !== undefined) reader.pausesNext = true;
        // As on `drain`: a resume at any other time would hide that the stream does not ask for more.
        else if (kind === 'resume' && stream.isPaused()) stream.resume();
        expect(stream.readableLength).toBeLessThanOrEqual(MAX_QUEUED_BYTES);
      }
      reader ??= read(stream);
      await readAll(stream);
      // Otherwise a hang: what has arrived was not read, or the caller is not asked for more.
      expect(stream.awaitsCaller).toBe(true);
      world.request.ended();
      await readAll(stream);
      expect(reader.ended).toBe(true);
      expect(Buffer.concat(reader.got).equals(Buffer.concat(world.sent))).toBe(true);
    });
    await fc.assert(property, { numRuns: 300 });
  });
});

it('ends its connection if its timer throws', async () => {
  const world = setUp(0);
  world.receive(1);
  await world.stream();
  const bug = new Error('a bug');
  world.request.isPaused = () => {
    throw bug;
  };
  world.clock.advance(IDLE_MS);
  expect(world.errors).toEqual([bug]);
});
