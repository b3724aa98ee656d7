import { describe, expect, it } from '@jest/globals';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import { manualClock } from '@gateway/shared/test/manual-clock';
import type { Cancellable, RequestContext } from '../request/context.ts';
import { ClientLeftError } from '../request/client-left-error.ts';
import { TimeAccount } from '../request/time-account.ts';
import { createQuota } from './quota-stage.ts';

const quota = { key: 'production/orders', limit: 5, windowMs: 60_000, per: 'route' };

function setUp() {
  const clock = manualClock();
  const asked = Promise.withResolvers<FixedWindow>();
  const stage = createQuota({ clock, store: { take: () => asked.promise } });
  let left: Cancellable | undefined;
  const ctx = {
    route: { name: 'orders', quota },
    deadlineMs: 100,
    times: new TimeAccount(clock.monotonicMs()),
    quota: undefined,
    clientGone: false,
    whenClientGone: (work: Cancellable | undefined) => void (left = work),
  };
  const leave = () => {
    ctx.clientGone = true;
    left?.cancel();
  };
  return {
    clock,
    asked,
    ctx,
    leave,
    left: () => left,
    run: () => stage(ctx as unknown as RequestContext),
  };
}

describe('the quota of an address', () => {
  const subjectOf = (clientIp: string, per: string, principal?: string) => {
    const subjects: string[] = [];
    const window = { granted: true, limit: 5, remaining: 4, resetSeconds: 60 };
    const take = (_policy: unknown, subject: string) => (subjects.push(subject), window);
    const route = { name: 'orders', quota: { ...quota, per } };
    const ctx = { route, clientIp, principal };
    void createQuota({ clock: manualClock(), store: { take } })(ctx as unknown as RequestContext);
    return subjects[0];
  };

  it('is counted for each IPv4 address and for each IPv6 network of 64 bits', () => {
    expect(subjectOf('203.0.113.7', 'ip')).toBe('203.0.113.7');
    const one = subjectOf('2001:db8:0:1::1', 'ip');
    expect(subjectOf('2001:db8:0:1:ffff::2', 'ip')).toBe(one);
    expect(subjectOf('2001:db8:0:2::1', 'ip')).not.toBe(one);
  });

  it('replaces the quota of a token if the caller has none', () => {
    expect(subjectOf('203.0.113.7', 'token', 'tok_1')).toBe('tok_1');
    expect(subjectOf('2001:db8:0:1::1', 'token')).toBe(subjectOf('2001:db8:0:1::2', 'ip'));
  });
});

describe('a request that waits for its quota', () => {
  it('continues when it is granted', async () => {
    const { asked, ctx, left, run } = setUp();
    const running = run();
    const window = { granted: true, limit: 5, remaining: 4, resetSeconds: 60 };
    asked.resolve(window);
    expect(await running).toBeUndefined();
    expect(ctx.quota).toBe(window);
    expect(left()).toBeUndefined();
  });

  it('ends when its caller leaves', async () => {
    const { leave, run } = setUp();
    const running = Promise.resolve(run());
    leave();
    await expect(running).rejects.toBeInstanceOf(ClientLeftError);
  });

  it('is refused at its deadline, whatever the quota: nothing was sent', async () => {
    const { clock, run } = setUp();
    const running = Promise.resolve(run());
    clock.advance(100);
    await expect(running).rejects.toMatchObject({ code: 'quota_unavailable' });
  });
});
