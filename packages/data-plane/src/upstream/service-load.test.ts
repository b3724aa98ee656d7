import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import fc from 'fast-check';
import { decideRetry, RETRY_BUDGET_MINIMUM, RETRY_BUDGET_SHARE } from './retry.ts';
import type { RetryPolicy } from '../routing-table/routing-table.ts';
import { ServiceLoads, spendRetry, type ServiceLoad } from './service-load.ts';

const policy: RetryPolicy = {
  onStatuses: new Set([503]),
  perAttemptTimeoutMs: undefined,
  backoffMs: 0,
  unsafeMethods: 'never',
};

/** Asks for a retry after a 503, and takes it where it is given. */
function retried(load: ServiceLoad, retriesMade: number, retryCount: number): boolean {
  const { retry } = decideRetry(
    {
      failure: { kind: 'status', status: 503, retryAfterMs: undefined },
      ...{ sent: true, method: 'GET', hasIdempotencyKey: false, bodyKept: true },
      ...{ remainingMs: 60_000, random: 0, elsewhere: true, retriesMade, retryCount },
      liveRetries: load.liveRetries,
      liveRequests: load.liveRequests,
      earnedRetries: load.earnedRetries,
      alone: !load.shared,
    },
    policy,
  );
  if (retry) spendRetry(load);
  return retry;
}

describe('the retry budget of a service that always fails', () => {
  it('is kept over any order of arrivals and failures, also where all of them end at once', () => {
    // Each number is a step: a request arrives, or one of those under way fails its attempt.
    const steps = fc.array(fc.nat(1000), { minLength: 20, maxLength: 600 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 10 }), (numbers, retryCount) => {
        const loads = new ServiceLoads(manualClock());
        let live: { load: ServiceLoad; made: number }[] = [];
        let requests = 0;
        let retries = 0;
        for (const number of numbers) {
          const one = live[number % Math.max(1, live.length)];
          if (number % 3 === 0 || one === undefined) {
            live.push({ load: loads.enter('svc'), made: 0 });
            requests += 1;
            continue;
          }
          if (one.made > 0) one.load.liveRetries -= 1;
          const alone = !one.load.shared;
          if (retried(one.load, one.made, retryCount)) {
            one.load.liveRetries += 1;
            one.made += 1;
            if (!alone) retries += 1;
          } else {
            live = live.filter((other) => other !== one);
            loads.leave('svc', one.load);
          }
        }
        expect(retries).toBeLessThanOrEqual(requests * RETRY_BUDGET_SHARE + RETRY_BUDGET_MINIMUM);
      }),
    );
  });

  it('gives a request that is alone all of its retries, time after time', () => {
    const loads = new ServiceLoads(manualClock());
    for (let request = 0; request < 20; request += 1) {
      const load = loads.enter('svc');
      let made = 0;
      while (retried(load, made, 10)) made += 1;
      expect(made).toBe(10);
      loads.leave('svc', load);
    }
  });

  it('begins anew when nothing was under way for a second, not before', () => {
    const clock = manualClock();
    const loads = new ServiceLoads(clock);
    const spendAll = () => {
      const load = loads.enter('svc');
      for (let retry = 0; retry < 5; retry += 1) spendRetry(load);
      loads.leave('svc', load);
    };
    spendAll();
    clock.advance(999);
    const soon = loads.enter('svc');
    expect(soon.earnedRetries).toBeLessThan(1);
    clock.advance(5000);
    expect(loads.enter('svc')).toBe(soon);
    loads.leave('svc', soon);
    loads.leave('svc', soon);
    clock.advance(1000);
    expect(loads.enter('svc').earnedRetries).toBeGreaterThanOrEqual(RETRY_BUDGET_MINIMUM);
  });

  it('keeps what was earned over gaps in which nothing is under way', () => {
    const clock = manualClock();
    const loads = new ServiceLoads(clock);
    for (let request = 0; request < 100; request += 1) {
      loads.leave('svc', loads.enter('svc'));
      clock.advance(50);
    }
    expect(loads.enter('svc').earnedRetries).toBeCloseTo(RETRY_BUDGET_MINIMUM + 101 * 0.19);
  });

  it('forgets what was earned after a second with nothing under way', () => {
    const clock = manualClock();
    const loads = new ServiceLoads(clock);
    for (let request = 0; request < 100; request += 1) loads.leave('svc', loads.enter('svc'));
    clock.advance(1000);
    expect(loads.enter('svc').earnedRetries).toBeCloseTo(RETRY_BUDGET_MINIMUM + 0.19);
  });

  it('forgets quiet services beyond a bounded number, after a second', () => {
    const clock = manualClock();
    const loads = new ServiceLoads(clock);
    const first = loads.enter('svc_0');
    loads.leave('svc_0', first);
    for (let service = 1; service < 1025; service += 1) {
      loads.leave(`svc_${service}`, loads.enter(`svc_${service}`));
    }
    const last = loads.enter('svc_1024');
    loads.leave('svc_1024', last);
    clock.advance(999);
    expect(loads.enter('svc_1024')).toBe(last);
    clock.advance(5000);
    loads.leave('svc_1024', last);
    clock.advance(1000);
    expect(loads.enter('svc_1024')).not.toBe(last);
    expect(loads.enter('svc_0')).toBe(first);
  });

  it('lets a service that did well for long have a bounded number at once', () => {
    const loads = new ServiceLoads(manualClock());
    const load = loads.enter('svc');
    for (let request = 0; request < 10_000; request += 1) loads.leave('svc', loads.enter('svc'));
    load.liveRequests = 10_000;
    let made = 0;
    while (retried(load, 0, 1)) made += 1;
    expect(made).toBe(100);
  });
});
