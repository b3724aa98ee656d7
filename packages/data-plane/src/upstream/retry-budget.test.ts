import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import fc from 'fast-check';
import { decideRetry, RETRY_BUDGET_MINIMUM, RETRY_BUDGET_SHARE } from './decide-retry.ts';
import { RETRY_POLICY, RETRY_STATE } from '../../test/retry-state.ts';
import { RetryBudgets, spendRetry, type RetryBudget } from './retry-budget.ts';

const policy = { ...RETRY_POLICY, backoffMs: 0 };

/** Asks for a retry after a 503, and takes it if it is granted. */
function retried(budget: RetryBudget, retriesMade: number, retryCount: number): boolean {
  const { retry } = decideRetry(
    {
      ...RETRY_STATE,
      failure: { kind: 'status', status: 503, retryAfterMs: undefined },
      hasAlternative: true,
      retriesMade,
      retryCount,
      liveRetries: budget.liveRetries,
      recentRequests: budget.recentRequests,
      earnedRetries: budget.earnedRetries,
      alone: !budget.shared,
    },
    policy,
  );
  if (retry) spendRetry(budget);
  return retry;
}

/**
 * Some requests that are live together fail after the others have ended.
 *
 * @returns how many of them are retried
 */
function failLast(budgets: RetryBudgets, requests: number, failing: number): number {
  const live = Array.from({ length: requests }, () => budgets.enter('svc'));
  for (const budget of live.slice(failing)) budget.leave();
  const failed = live.slice(0, failing);
  const retrying = failed.filter((budget) => {
    const granted = retried(budget, 0, 1);
    if (granted) budget.liveRetries += 1;
    return granted;
  });
  for (const budget of retrying) budget.liveRetries -= 1;
  for (const budget of failed) budget.leave();
  return retrying.length;
}

describe('the share of retries in flight', () => {
  it('counts the requests that ended just before', () => {
    const budgets = new RetryBudgets(manualClock());
    expect(failLast(budgets, 64, 10)).toBe(10);
    expect(failLast(budgets, 64, 20)).toBe(13);
  });

  it('follows a load that falls', () => {
    const budgets = new RetryBudgets(manualClock());
    failLast(budgets, 200, 0);
    for (let round = 0; round < 20; round += 1) failLast(budgets, 10, 0);
    expect(failLast(budgets, 10, 10)).toBe(3);
  });
});

describe('the retry budget of a service that always fails', () => {
  it('is kept in any order of arrivals and failures, also if all requests fail at once', () => {
    // Each number is a step: a request arrives, or an attempt of a live request fails.
    const steps = fc.array(fc.nat(1000), { minLength: 20, maxLength: 600 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 10 }), (numbers, retryCount) => {
        const budgets = new RetryBudgets(manualClock());
        let live: { budget: RetryBudget; made: number }[] = [];
        let requests = 0;
        let retries = 0;
        for (const number of numbers) {
          const one = live[number % Math.max(1, live.length)];
          if (number % 3 === 0 || one === undefined) {
            live.push({ budget: budgets.enter('svc'), made: 0 });
            requests += 1;
            continue;
          }
          if (one.made > 0) one.budget.liveRetries -= 1;
          const alone = !one.budget.shared;
          if (retried(one.budget, one.made, retryCount)) {
            one.budget.liveRetries += 1;
            one.made += 1;
            if (!alone) retries += 1;
          } else {
            live = live.filter((other) => other !== one);
            one.budget.leave();
          }
        }
        expect(retries).toBeLessThanOrEqual(requests * RETRY_BUDGET_SHARE + RETRY_BUDGET_MINIMUM);
      }),
    );
  });

  it('grants all retries to a request that is alone, each time', () => {
    const budgets = new RetryBudgets(manualClock());
    for (let request = 0; request < 20; request += 1) {
      const budget = budgets.enter('svc');
      let made = 0;
      while (retried(budget, made, 10)) made += 1;
      expect(made).toBe(10);
      budget.leave();
    }
  });

  it('starts over after a second without a live request, not before', () => {
    const clock = manualClock();
    const budgets = new RetryBudgets(clock);
    const spendAll = () => {
      const budget = budgets.enter('svc');
      for (let retry = 0; retry < 5; retry += 1) spendRetry(budget);
      budget.leave();
    };
    spendAll();
    clock.advance(999);
    const soon = budgets.enter('svc');
    expect(soon.earnedRetries).toBeLessThan(1);
    clock.advance(5000);
    expect(budgets.enter('svc')).toBe(soon);
    soon.leave();
    soon.leave();
    clock.advance(1000);
    expect(budgets.enter('svc').earnedRetries).toBeGreaterThanOrEqual(RETRY_BUDGET_MINIMUM);
  });

  it('keeps what was earned over short gaps without a live request', () => {
    const clock = manualClock();
    const budgets = new RetryBudgets(clock);
    for (let request = 0; request < 100; request += 1) {
      budgets.enter('svc').leave();
      clock.advance(50);
    }
    expect(budgets.enter('svc').earnedRetries).toBeCloseTo(RETRY_BUDGET_MINIMUM + 101 * 0.19);
  });

  it('forgets what was earned after a second without a live request', () => {
    const clock = manualClock();
    const budgets = new RetryBudgets(clock);
    for (let request = 0; request < 100; request += 1) budgets.enter('svc').leave();
    clock.advance(1000);
    expect(budgets.enter('svc').earnedRetries).toBeCloseTo(RETRY_BUDGET_MINIMUM + 0.19);
  });

  it('forgets idle services after a second if there are more than a bounded number', () => {
    const clock = manualClock();
    const budgets = new RetryBudgets(clock);
    const first = budgets.enter('svc_0');
    first.leave();
    for (let service = 1; service < 1025; service += 1) {
      budgets.enter(`svc_${service}`).leave();
    }
    const last = budgets.enter('svc_1024');
    last.leave();
    clock.advance(999);
    expect(budgets.enter('svc_1024')).toBe(last);
    clock.advance(5000);
    last.leave();
    clock.advance(1000);
    expect(budgets.enter('svc_1024')).not.toBe(last);
    expect(budgets.enter('svc_0')).toBe(first);
  });

  it('has a bounded number of retries after a long time without failures', () => {
    const budgets = new RetryBudgets(manualClock());
    const budget = budgets.enter('svc');
    for (let request = 0; request < 10_000; request += 1) budgets.enter('svc').leave();
    budget.recentRequests = 10_000;
    let made = 0;
    while (retried(budget, 0, 1)) made += 1;
    expect(made).toBe(100);
  });
});
