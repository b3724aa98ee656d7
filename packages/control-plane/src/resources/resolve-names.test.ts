import { manualClock } from '@gateway/shared/test/manual-clock';
import { describe, expect, it } from '@jest/globals';
import {
  createResolveName,
  MAX_PARALLEL,
  MAX_WAITING,
  RESOLVE_TIMEOUT_MS,
} from './resolve-names.ts';

/** Lookups that the test ends. */
function heldLookUps() {
  const asked: string[] = [];
  const ends: ((addresses: readonly string[]) => void)[] = [];
  const lookUp = (name: string) => {
    asked.push(name);
    return new Promise<readonly string[]>((resolve) => ends.push(resolve));
  };
  return { asked, lookUp, end: () => ends.shift()?.(['192.0.2.1']) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the lookup of a name', () => {
  it('returns the addresses in the hosts file of the machine', async () => {
    expect(await createResolveName(manualClock())('localhost')).toContain('127.0.0.1');
  });

  it('returns none for a name without addresses', async () => {
    const refuse = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await createResolveName(manualClock(), refuse)('a.example')).toEqual([]);
  });

  it('returns none after the time limit, also for names that wait', async () => {
    const clock = manualClock();
    const { asked, lookUp } = heldLookUps();
    const resolve = createResolveName(clock, lookUp);
    const names = Array.from({ length: 5 }, (_none, at) => `n${at}.example`);
    const all = Promise.all(names.map(resolve));
    clock.advance(RESOLVE_TIMEOUT_MS);
    expect(await all).toEqual(names.map(() => []));
    expect(asked).toHaveLength(MAX_PARALLEL);
  });

  it('runs a bounded number at the same time, and none for names whose time is over', async () => {
    const clock = manualClock();
    const { asked, lookUp, end } = heldLookUps();
    const resolve = createResolveName(clock, lookUp);
    const early = Promise.all(['a', 'b', 'c'].map(resolve));
    clock.advance(RESOLVE_TIMEOUT_MS);
    await early;
    const late = resolve('d');
    expect(asked).toEqual(['a', 'b']);
    end();
    await turn();
    expect(asked).toEqual(['a', 'b', 'd']);
    end();
    end();
    expect(await late).toEqual(['192.0.2.1']);
  });

  it('lets a bounded number of names wait', async () => {
    const { lookUp } = heldLookUps();
    const resolve = createResolveName(manualClock(), lookUp);
    for (let at = 0; at < MAX_PARALLEL + MAX_WAITING; at += 1) void resolve('held.example');
    expect(await resolve('beyond.example')).toEqual([]);
  });
});
