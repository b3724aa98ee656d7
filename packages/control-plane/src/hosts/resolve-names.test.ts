import { resolveBySystem, SYSTEM_SOURCES } from '@gateway/shared/dns/system-names';
import type { ResolvedName } from '@gateway/shared/dns/resolve-name';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { describe, expect, it } from '@jest/globals';
import { createResolveName, MAX_RUNNING, RESOLVE_TIMEOUT_MS } from './resolve-names.ts';

const FOUND: ResolvedName = { addresses: [{ address: '192.0.2.1', family: 4 }], ttlMs: 1 };

describe('the lookup of a name', () => {
  it('returns the addresses in the hosts file of the machine', async () => {
    const clock = manualClock();
    const resolve = createResolveName(clock, resolveBySystem(SYSTEM_SOURCES, clock));
    expect(await resolve('localhost')).toContain('127.0.0.1');
  });

  it('returns none for a name without addresses', async () => {
    const refuse = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await createResolveName(manualClock(), refuse)('a.example')).toEqual([]);
  });

  it('returns none after the time limit; names that hang keep no other from being looked up', async () => {
    const clock = manualClock();
    const hung = ['a', 'b', 'c', 'd'];
    const resolve = createResolveName(clock, (name) =>
      hung.includes(name) ? new Promise(() => undefined) : Promise.resolve(FOUND),
    );
    const all = Promise.all(hung.map(resolve));
    expect(await resolve('good')).toEqual(['192.0.2.1']);
    clock.advance(RESOLVE_TIMEOUT_MS);
    expect(await all).toEqual(hung.map(() => []));
  });

  it('runs a bounded number at the same time', async () => {
    const held: (() => void)[] = [];
    const resolve = createResolveName(
      manualClock(),
      () => new Promise((end) => held.push(() => end(FOUND))),
    );
    const first = resolve('held.example');
    for (let at = 1; at < MAX_RUNNING; at += 1) void resolve('held.example');
    expect(await resolve('beyond.example')).toEqual([]);
    held[0]?.();
    expect(await first).toEqual(['192.0.2.1']);
    await new Promise(setImmediate);
    const next = resolve('next.example');
    held.at(-1)?.();
    expect(await next).toEqual(['192.0.2.1']);
  });
});
