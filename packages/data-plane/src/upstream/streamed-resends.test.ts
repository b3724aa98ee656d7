import { createServer } from 'node:http';
import { constants } from 'node:http2';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { listen } from '@gateway/shared/test/upstream';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import {
  arrived,
  fill,
  resendWorld,
  startAttempted,
  statusOf,
  warmResendWorld,
  type Attempted,
} from '../../test/resend-world.ts';
import { CALLERS } from '../../test/stream-world.ts';

const opened = closeAfterEach();
const MOST = 64 * 1024;
const SUM = { 'x-sum': '7' };
const always: SnapshotRoute['retry'] = {
  on_statuses: [503],
  per_attempt_timeout_ms: null,
  backoff_ms: 0,
  unsafe_methods: 'always',
};

describe.each(CALLERS)('a body over %s of which a part is still to come', (protocol) => {
  it('is sent again after a GOAWAY that names an earlier stream, and the rest follows', async () => {
    const { upstream, call, record } = await warmResendWorld(opened);
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
    const { upstream, call, record } = await warmResendWorld(opened, { retry_count: 1 });
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
    const { upstream, call, record } = await warmResendWorld(opened, {
      retry_count: 1,
      retry: always,
    });
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
    const { upstream, call, record } = await warmResendWorld(opened, { retry_count: 2 });
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
    const { upstream, call } = await warmResendWorld(opened);
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
    const { upstream, call, record } = await warmResendWorld(opened);
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

  it('to an upstream of HTTP/1.1 is sent again after 503 if the route allows it', async () => {
    const bodies: string[] = [];
    const upstream = opened(
      await listen(
        createServer((request, response) => {
          const at = bodies.push('') - 1;
          request.setEncoding('latin1').on('error', () => undefined);
          request.on('data', (part: string) => (bodies[at] = `${bodies[at] ?? ''}${part}`));
          if (at === 0) request.once('data', () => response.writeHead(503).end());
          else request.on('end', () => response.end());
        }),
      ),
    );
    const route = { streaming: true, retry_count: 1, retry: always };
    const { gateway, call } = await resendWorld(opened, [upstream.url], route, {}, 'http1');
    const caller = call(protocol);
    caller.send('first ');
    await eventually(() => expect(bodies).toEqual(['first ', 'first ']));
    caller.send('second');
    caller.finish();
    expect(await statusOf(caller)).toBe(200);
    expect(bodies).toEqual(['first ', 'first second']);
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records[0]?.attempts).toMatchObject([{ status: 503 }, { status: 200 }]);
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
    expect(await fill(caller.body)).toBeGreaterThan(0);
    next.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    await eventually(() => expect(gateway.records).toHaveLength(1));
    // The window of the upstream, and what waits for it.
    expect(gateway.records[0]?.request_bytes).toBeLessThan(256 * 1024);
  });
});
