import { describe, expect, it } from '@jest/globals';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import { manualClock } from '@gateway/shared/testing/manual-clock';
import type { RequestContext } from '../pipeline/context.ts';
import { createQuota } from './quota.ts';

const quota = { key: 'production/orders', limit: 5, windowMs: 60_000, per: 'route' };

function setUp() {
  const clock = manualClock();
  const asked = Promise.withResolvers<FixedWindow>();
  const stage = createQuota({ clock, store: { take: () => asked.promise } });
  const ctx = { route: { name: 'orders', quota }, deadlineMs: 100, quota: undefined };
  return { clock, asked, ctx, run: () => stage(ctx as unknown as RequestContext) };
}

describe('a request that waits for its quota', () => {
  it('goes on when it is granted', async () => {
    const { asked, ctx, run } = setUp();
    const running = run();
    const window = { granted: true, limit: 5, remaining: 4, resetSeconds: 60 };
    asked.resolve(window);
    expect(await running).toBeUndefined();
    expect(ctx.quota).toBe(window);
  });

  it('ends with 504 at its deadline, whatever becomes of the quota', async () => {
    const { clock, run } = setUp();
    const running = Promise.resolve(run());
    clock.advance(100);
    await expect(running).rejects.toMatchObject({ code: 'upstream_timeout' });
  });
});
