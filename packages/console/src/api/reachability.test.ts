import { describe, expect, it } from '@jest/globals';
import { SLOW_READ_MS, watchReachability } from './reachability.ts';

describe('the reachability of the control plane', () => {
  const answer = (status: number, code?: string): Response =>
    new Response(null, { status, ...(code && { headers: { 'x-gateway-error': code } }) });

  function watched() {
    const timers: { callback: () => void; delayMs: number; stopped: boolean }[] = [];
    let next: () => Promise<Response> = () => Promise.resolve(answer(200));
    const seen: boolean[] = [];
    const watch = watchReachability(() => next(), {
      start(callback, delayMs) {
        const timer = { callback, delayMs, stopped: false };
        timers.push(timer);
        return () => (timer.stopped = true);
      },
    });
    watch.subscribe(() => seen.push(watch.isAway()));
    const call = (reply: () => Promise<Response>, init: RequestInit = {}) => {
      next = reply;
      return watch.fetch(new Request('http://gateway.example/v1/routes', init));
    };
    return { watch, call, seen, timers };
  }

  it('ends with an answer in place of the control plane, and returns with its own', async () => {
    const { call, seen } = watched();
    await call(() => Promise.resolve(answer(502, 'upstream_unavailable')));
    await call(() => Promise.resolve(answer(503)));
    await call(() => Promise.resolve(answer(404, 'route_not_found')));
    await call(() => Promise.resolve(answer(503, 'gateway_not_ready')));
    await call(() => Promise.resolve(answer(503, 'gateway_overloaded')));
    expect(seen).toEqual([true, false, true, false]);
  });

  it('ends when there is no answer, but not when the page ends the call', async () => {
    const { call, seen } = watched();
    const broken = () => Promise.reject(new TypeError('Failed to fetch'));
    const ended = AbortSignal.abort();
    await expect(call(broken, { signal: ended })).rejects.toThrow('Failed to fetch');
    expect(seen).toEqual([]);
    await expect(call(broken)).rejects.toThrow('Failed to fetch');
    expect(seen).toEqual([true]);
  });

  it('ends when the page has waited too long', async () => {
    const { call, seen } = watched();
    const late = AbortSignal.abort(new DOMException('no answer', 'TimeoutError'));
    const broken = () => Promise.reject(new TypeError('Failed to fetch'));
    await expect(call(broken, { signal: late })).rejects.toThrow('Failed to fetch');
    expect(seen).toEqual([true]);
  });

  it('ends when a read takes long, and not when a change does', async () => {
    const { call, seen, timers } = watched();
    let respond: (response: Response) => void = () => undefined;
    const slow = () => new Promise<Response>((resolve) => (respond = resolve));
    const reading = call(slow);
    expect(timers).toMatchObject([{ delayMs: SLOW_READ_MS, stopped: false }]);
    timers[0]?.callback();
    expect(seen).toEqual([true]);
    respond(answer(200));
    await reading;
    expect(seen).toEqual([true, false]);
    expect(timers[0]?.stopped).toBe(true);
    const changing = call(slow, { method: 'POST' });
    respond(answer(200));
    await changing;
    expect(timers).toHaveLength(1);
  });
});
