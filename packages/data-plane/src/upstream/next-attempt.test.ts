import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import type { RequestContext } from '../request/context.ts';
import { ClientLeftError } from '../request/caller.ts';
import { backOff } from './next-attempt.ts';
import { ServiceLoads } from './service-load.ts';

function setUp(deadlineMs: number, keyHeld?: () => boolean) {
  const clock = manualClock();
  const load = new ServiceLoads(clock).enter('svc');
  let leave: (() => void) | undefined;
  const ctx = {
    ...{ deadlineMs, upstreamMs: 0, clientGone: false, attempts: [], keyHeld },
    whenClientGone: (cancel: () => void) => void (leave = cancel),
  };
  const waiting = backOff(ctx as unknown as RequestContext, 50, load, clock);
  return { clock, load, ctx, waiting, leave: () => leave?.() };
}

describe('backOff', () => {
  it('counts as a retry under way, and its time as the upstream’s', async () => {
    const { clock, load, ctx, waiting } = setUp(100);
    expect(load.liveRetries).toBe(1);
    clock.advance(50);
    await waiting;
    expect(load.liveRetries).toBe(0);
    expect(ctx.upstreamMs).toBe(50);
  });

  it('lets nothing be sent after the deadline where it ends late', async () => {
    const { clock, load, waiting } = setUp(50);
    clock.advance(50);
    await expect(waiting).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(load.liveRetries).toBe(0);
  });

  it('lets nothing be sent under a key whose lease ended meanwhile', async () => {
    let held = true;
    const { clock, waiting } = setUp(100, () => held);
    held = false;
    clock.advance(50);
    await expect(waiting).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  it('goes on under a key that is held', async () => {
    const { clock, waiting } = setUp(100, () => true);
    clock.advance(50);
    await expect(waiting).resolves.toBeUndefined();
  });

  it('ends at once when the caller leaves', async () => {
    const { ctx, load, waiting, leave } = setUp(100);
    ctx.clientGone = true;
    leave();
    await expect(waiting).rejects.toBeInstanceOf(ClientLeftError);
    expect(load.liveRetries).toBe(0);
  });
});
