import { constants } from 'node:http2';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { resendWorld, startAttempted, statusOf, type Attempted } from '../../test/resend-world.ts';
import { CALLERS } from '../../test/stream-world.ts';

const opened = closeAfterEach();
const MOST = 64 * 1024;
const PART = 'x'.repeat(256 * 1024);
/** More than all sockets and buffers on the way hold. */
const PARTS = 64;
const SUM = { 'x-sum': '7' };
const always: SnapshotRoute['retry'] = {
  on_statuses: [503],
  per_attempt_timeout_ms: null,
  backoff_ms: 0,
  unsafe_methods: 'always',
};

/** A gateway with a connection to its upstream, whose first stream was answered. */
async function world(route: Partial<SnapshotRoute> = {}, environment: Record<string, string> = {}) {
  const upstream = opened(await startAttempted());
  const { gateway, call } = await resendWorld(opened, [upstream.url], route, environment);
  const first = call('http1');
  first.finish();
  (await upstream.next()).answer();
  await statusOf(first);
  await eventually(() => expect(gateway.records).toHaveLength(1));
  /** The record of the call after the first one. */
  const record = () =>
    eventually(() => {
      const found = gateway.records[1];
      if (found === undefined) throw new Error('no record');
      return found;
    });
  return { upstream, gateway, call, record };
}

const arrived = (attempt: Attempted, text: string) =>
  eventually(() => expect([attempt.bytes, attempt.text === text]).toEqual([text.length, true]));

describe.each(CALLERS)('a body over %s of which a part is still to come', (protocol) => {
  it('is sent again after a GOAWAY that names an earlier stream, and the rest follows', async () => {
    const { upstream, call, record } = await world();
    const caller = call(protocol);
    caller.send('first ');
    const attempt = await upstream.next(2);
    await arrived(attempt, 'first ');
    attempt.goAway();
    const next = await upstream.next(3);
    await arrived(next, 'first ');
    expect([attempt.connection, next.connection]).toEqual([1, 2]);
    caller.send('second ');
    await arrived(next, 'first second ');
    caller.finish(SUM);
    await eventually(() => expect(next.isWhole).toBe(true));
    expect(next.trailers).toMatchObject(SUM);
    next.answer();
    expect(await statusOf(caller)).toBe(200);
    expect(await record()).toMatchObject({
      outcome: 'success',
      request_bytes: 13,
      attempts: [
        { error: 'goaway', retry: { retried: true, why: 'nothing_sent' } },
        { status: 200 },
      ],
    });
  });

  it('is sent again after REFUSED_STREAM as a retry', async () => {
    const { upstream, call, record } = await world({ retry_count: 1 });
    const caller = call(protocol);
    caller.send('first ');
    const attempt = await upstream.next(2);
    await arrived(attempt, 'first ');
    attempt.refuse();
    const next = await upstream.next(3);
    caller.send('second');
    caller.finish();
    await arrived(next, 'first second');
    next.answer();
    expect(await statusOf(caller)).toBe(200);
    expect(await record()).toMatchObject({
      retry_count: 1,
      attempts: [
        { error: 'refused_stream', retry: { retried: true, why: 'nothing_sent' } },
        { status: 200 },
      ],
    });
  });

  it('is sent again after 503 if the route allows it, and the method', async () => {
    const { upstream, call, record } = await world({ retry_count: 1, retry: always });
    // The body of a gRPC call is not read whole before it is sent.
    const caller = call(protocol, { 'content-type': 'application/grpc', te: 'trailers' });
    caller.send('first ');
    const attempt = await upstream.next(2);
    await arrived(attempt, 'first ');
    attempt.stream.respond({ ':status': 503 });
    const next = await upstream.next(3);
    caller.send('second');
    caller.finish();
    await arrived(next, 'first second');
    next.answer();
    expect(await statusOf(caller)).toBe(200);
    expect((await record()).attempts).toMatchObject([
      { status: 503, retry: { retried: true, why: 'unsafe_methods_always' } },
      { status: 200 },
    ]);
  });

  it.each<[string, (attempt: Attempted) => void]>([
    ['a reset', ({ stream }) => stream.close(constants.NGHTTP2_INTERNAL_ERROR)],
    ['a lost connection', ({ stream }) => stream.session?.destroy()],
  ])('is not sent again after %s: the upstream may have worked', async (_end, fail) => {
    const { upstream, call, record } = await world({ retry_count: 2 });
    const caller = call(protocol);
    caller.send('first ');
    const attempt = await upstream.next(2);
    await arrived(attempt, 'first ');
    fail(attempt);
    expect(await statusOf(caller)).toBe(502);
    expect((await record()).attempts).toMatchObject([
      { error: 'reset', retry: { retried: false, why: 'method_not_idempotent' } },
    ]);
  });

  it('is sent again whole if it has arrived meanwhile, with its trailers', async () => {
    const { upstream, call } = await world();
    const caller = call(protocol);
    caller.send('first ');
    const attempt = await upstream.next(2);
    await arrived(attempt, 'first ');
    caller.send('second');
    caller.finish(SUM);
    await eventually(() => expect(attempt.isWhole).toBe(true));
    attempt.goAway();
    const next = await upstream.next(3);
    await eventually(() => expect(next.isWhole).toBe(true));
    expect([next.text, next.trailers]).toMatchObject(['first second', SUM]);
    next.answer();
    expect(await statusOf(caller)).toBe(200);
  });

  it.each([
    [MOST, 2],
    [MOST + 1, 1],
  ])('of which %i bytes were sent is sent %i times', async (bytes, times) => {
    const { upstream, call, record } = await world();
    const caller = call(protocol);
    const sent = Array.from({ length: bytes }, (_, index) => index % 10).join('');
    caller.send(sent.slice(0, 20_000));
    const attempt = await upstream.next(2);
    await arrived(attempt, sent.slice(0, 20_000));
    caller.send(sent.slice(20_000));
    await arrived(attempt, sent);
    attempt.goAway();
    if (times === 1) {
      expect(await statusOf(caller)).toBe(502);
      expect((await record()).attempts).toMatchObject([
        { error: 'goaway', retry: { retried: false, why: 'body_not_kept' } },
      ]);
      return;
    }
    const next = await upstream.next(3);
    caller.send('end');
    caller.finish();
    await arrived(next, `${sent}end`);
    next.answer();
    expect(await statusOf(caller)).toBe(200);
    expect((await record()).attempts).toHaveLength(2);
  });

  it('is taken from its caller only as the next upstream takes it', async () => {
    const slow = opened(await startAttempted(false));
    const { gateway, call } = await resendWorld(opened, [slow.url], {
      retry_count: 1,
      max_body_bytes: 1024 ** 3,
    });
    const caller = call(protocol);
    caller.send('first');
    (await slow.next()).refuse();
    const next = await slow.next(2);
    for (let part = 0; part < PARTS; part += 1) caller.body.write(PART);
    let last = -1;
    let same = 0;
    await eventually(() => {
      same = caller.body.writableLength === last ? same + 1 : 0;
      last = caller.body.writableLength;
      expect(same).toBeGreaterThan(10);
    });
    expect(last).toBeGreaterThan(0);
    next.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    await eventually(() => expect(gateway.records).toHaveLength(1));
    // The window of the upstream, and what waits for it.
    expect(gateway.records[0]?.request_bytes).toBeLessThan(256 * 1024);
  });
});

describe('the memory for bodies', () => {
  const half = 'x'.repeat(40_000);
  /** A call of which half of all memory was sent to the upstream. */
  async function begin({ upstream, call }: Awaited<ReturnType<typeof world>>, count: number) {
    const caller = call('http2');
    caller.send(half);
    const attempt = await upstream.next(count);
    await arrived(attempt, half);
    return { caller, attempt };
  }

  it('keeps no more bodies than fit, until their responses begin', async () => {
    const made = await world({ retry_count: 1 }, { MAX_KEPT_BODY_BYTES: '60000' });
    const first = await begin(made, 2);
    const second = await begin(made, 3);
    second.attempt.refuse();
    expect(await statusOf(second.caller)).toBe(502);
    expect((await made.record()).attempts).toMatchObject([
      { error: 'refused_stream', retry: { retried: false, why: 'body_not_kept' } },
    ]);
    first.attempt.stream.respond({ ':status': 200 });
    expect(await statusOf(first.caller)).toBe(200);
    const third = await begin(made, 4);
    third.attempt.refuse();
    const again = await made.upstream.next(5);
    third.caller.finish();
    await arrived(again, half);
    again.answer();
    expect(await statusOf(third.caller)).toBe(200);
  });

  it.each<[string, (call: Awaited<ReturnType<typeof begin>>) => void]>([
    ['the caller leaves', ({ caller }) => caller.cancel()],
    ['the attempt fails', ({ attempt }) => attempt.stream.close(constants.NGHTTP2_INTERNAL_ERROR)],
  ])('is given back when %s', async (_end, end) => {
    const made = await world({ retry_count: 1 }, { MAX_KEPT_BODY_BYTES: '60000' });
    end(await begin(made, 2));
    await made.record();
    const next = await begin(made, 3);
    next.attempt.refuse();
    (await made.upstream.next(4)).answer();
    expect(await statusOf(next.caller)).toBe(200);
  });
});

it('a body of a method that may be repeated is kept no longer than MAX_RETRY_BODY_BYTES', async () => {
  const { upstream, call, record } = await world(
    { retry_count: 1, retry: always },
    { MAX_RETRY_BODY_BYTES: '5' },
  );
  const caller = call('http2');
  caller.send('first ');
  const attempt = await upstream.next(2);
  await arrived(attempt, 'first ');
  attempt.refuse();
  expect(await statusOf(caller)).toBe(502);
  expect((await record()).attempts).toMatchObject([{ retry: { why: 'body_not_kept' } }]);
});
