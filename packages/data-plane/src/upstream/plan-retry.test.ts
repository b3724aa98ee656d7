import { describe, expect, it } from '@jest/globals';
import type { RecordedAttempt } from '@gateway/shared/records/attempt';
import { manualClock } from '@gateway/shared/test/manual-clock';
import type { Cancellable, RequestContext } from '../request/context.ts';
import { ClientLeftError } from '../request/client-left-error.ts';
import { TimeAccount } from '../request/time-account.ts';
import { backOff } from './plan-retry.ts';
import { RetryBudgets } from './retry-budget.ts';

function setUp(deadlineMs: number, holdsKey?: () => boolean) {
  const clock = manualClock();
  const budget = new RetryBudgets(clock).enter('svc');
  let leave: (() => void) | undefined;
  const ctx = {
    deadlineMs,
    times: new TimeAccount(clock.monotonicMs()),
    clientGone: false,
    attempts: [{} as RecordedAttempt],
    holdsKey,
    whenClientGone: (work: Cancellable) => void (leave = () => work.cancel()),
  };
  const waiting = backOff(ctx as unknown as RequestContext, 50, budget, clock);
  return { clock, budget, ctx, waiting, leave: () => leave?.() };
}

describe('backOff', () => {
  it('counts as a live retry, and its time as a wait before a retry', async () => {
    const { clock, budget, ctx, waiting } = setUp(100);
    expect(budget.liveRetries).toBe(1);
    clock.advance(50);
    await waiting;
    expect(budget.liveRetries).toBe(0);
    expect([ctx.times.retryUs, ctx.times.totalUs]).toEqual([50_000, 50_000]);
  });

  it('fails if it ends after the deadline', async () => {
    const { clock, budget, ctx, waiting } = setUp(50);
    clock.advance(50);
    await expect(waiting).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(ctx.attempts).toEqual([{ retry: { retried: false, why: 'deadline' } }]);
    expect(budget.liveRetries).toBe(0);
  });

  it('fails if the lease of the idempotency key ended meanwhile', async () => {
    let held = true;
    const { clock, ctx, waiting } = setUp(100, () => held);
    held = false;
    clock.advance(50);
    await expect(waiting).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(ctx.attempts).toEqual([{ retry: { retried: false, why: 'key_lease_ended' } }]);
  });

  it('ends normally while the idempotency key is held', async () => {
    const { clock, waiting } = setUp(100, () => true);
    clock.advance(50);
    await expect(waiting).resolves.toBeUndefined();
  });

  it.each([
    ['the caller leaves', undefined, 'caller_left'],
    ['a drain ends the response', 'drained', 'response_ended'],
  ] as const)('ends at once when %s', async (_what, endReason, why) => {
    const { ctx, budget, waiting, leave } = setUp(100);
    Object.assign(ctx, { clientGone: true, endReason });
    leave();
    await expect(waiting).rejects.toBeInstanceOf(ClientLeftError);
    expect(ctx.attempts).toEqual([{ retry: { retried: false, why } }]);
    expect(budget.liveRetries).toBe(0);
  });
});
