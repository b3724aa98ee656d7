import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { resendWorld, startAttempted, statusOf } from '../../test/resend-world.ts';
import { CALLERS } from '../../test/stream-world.ts';

const opened = closeAfterEach();

/** A gateway with a connection to its upstream, whose first stream was answered. */
async function world(
  ...args: Parameters<typeof resendWorld> extends [unknown, unknown, ...infer R] ? R : never
) {
  const upstream = opened(await startAttempted());
  const { gateway, call } = await resendWorld(opened, [upstream.url], ...args);
  const first = call('http1');
  first.finish();
  (await upstream.next()).answer();
  await statusOf(first);
  await eventually(() => expect(gateway.records).toHaveLength(1));
  return { upstream, gateway, call };
}

describe.each(CALLERS)('a body over %s that is still to come in part', (protocol) => {
  it('is sent again after a GOAWAY that names an earlier stream, and the rest follows', async () => {
    const { upstream, gateway, call } = await world();
    const caller = call(protocol);
    caller.send('first ');
    const attempt = await upstream.next(2);
    await eventually(() => expect(attempt.text).toBe('first '));
    attempt.goAway();
    const next = await upstream.next(3);
    await eventually(() => expect(next.text).toBe('first '));
    expect([attempt.connection, next.connection]).toEqual([1, 2]);
    caller.send('second ');
    await eventually(() => expect(next.text).toBe('first second '));
    caller.finish({ 'x-sum': '7' });
    await eventually(() => expect(next.isWhole).toBe(true));
    expect(next.trailers).toMatchObject({ 'x-sum': '7' });
    next.answer();
    expect(await statusOf(caller)).toBe(200);
    await eventually(() => expect(gateway.records).toHaveLength(2));
    expect(gateway.records[1]).toMatchObject({
      status: 200,
      outcome: 'success',
      request_bytes: 13,
      attempts: [
        { error: 'goaway', retry: { retried: true, why: 'nothing_sent' } },
        { status: 200 },
      ],
    });
  });
});
