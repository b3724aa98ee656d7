import { constants } from 'node:http2';
import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { arrived, statusOf, warmResendWorld } from '../../test/resend-world.ts';

const opened = closeAfterEach();

const ALWAYS: SnapshotRoute['retry'] = {
  on_statuses: [503],
  per_attempt_timeout_ms: null,
  backoff_ms: 0,
  unsafe_methods: 'always',
};

describe('the memory for bodies', () => {
  const most = 'x'.repeat(60_000);
  /** A call of which so much was sent to the upstream that most of the memory is taken. */
  async function begin(
    { upstream, call }: Awaited<ReturnType<typeof warmResendWorld>>,
    count: number,
  ) {
    const caller = call('http2');
    caller.send(most);
    const attempt = await upstream.next(count);
    await arrived(attempt, most);
    return { caller, attempt };
  }

  it('keeps no more bodies than fit, until their responses begin', async () => {
    const made = await warmResendWorld(
      opened,
      { retry_count: 1 },
      { MAX_KEPT_BODY_BYTES: '100000' },
    );
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
    await arrived(again, most);
    again.answer();
    expect(await statusOf(third.caller)).toBe(200);
  });

  it.each<[string, (call: Awaited<ReturnType<typeof begin>>) => void]>([
    ['the caller leaves', ({ caller }) => caller.cancel()],
    ['the attempt fails', ({ attempt }) => attempt.stream.close(constants.NGHTTP2_INTERNAL_ERROR)],
  ])('is given back when %s', async (_end, end) => {
    const made = await warmResendWorld(
      opened,
      { retry_count: 1 },
      { MAX_KEPT_BODY_BYTES: '100000' },
    );
    end(await begin(made, 2));
    await made.record();
    const next = await begin(made, 3);
    next.attempt.refuse();
    (await made.upstream.next(4)).answer();
    expect(await statusOf(next.caller)).toBe(200);
  });
});

it('a body of a method that may be repeated is kept no longer than MAX_RETRY_BODY_BYTES', async () => {
  const { upstream, call, record } = await warmResendWorld(
    opened,
    { retry_count: 1, retry: ALWAYS },
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
