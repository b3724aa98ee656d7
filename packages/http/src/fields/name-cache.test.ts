import { describe, expect, it } from '@jest/globals';
import { cacheByName } from './name-cache.ts';

/** Counts how often a value is computed. */
function counted(): { readonly of: (name: string) => string; readonly made: () => number } {
  let made = 0;
  const of = cacheByName((name) => {
    made += 1;
    return name.toLowerCase();
  });
  return { of, made: () => made };
}

describe('a value computed from a field name', () => {
  it('is computed once for each spelling', () => {
    const { of, made } = counted();
    const before = made();
    for (let turn = 0; turn < 3; turn += 1) {
      expect([of('X-A'), of('x-a'), of('X-B')]).toEqual(['x-a', 'x-a', 'x-b']);
    }
    expect(made() - before).toBe(3);
  });

  it('is cached for common names from the start', () => {
    const { of, made } = counted();
    const before = made();
    expect([of('Content-Length'), of('content-length')]).toEqual(Array(2).fill('content-length'));
    expect(made()).toBe(before);
  });

  it('is cached for at most 512 names, and correct for others', () => {
    const { of, made } = counted();
    for (let index = 0; index < 600; index += 1) expect(of(`X-${index}`)).toBe(`x-${index}`);
    const before = made();
    for (let index = 599; index >= 0; index -= 1) expect(of(`X-${index}`)).toBe(`x-${index}`);
    expect(made() - before).toBeGreaterThanOrEqual(600 - 512);
  });

  it('stays cached for a name in use, however many other names follow', () => {
    const { of, made } = counted();
    for (let index = 0; index < 10_000; index += 1) {
      of(`X-${index}`);
      if (index % 100 === 0) of('X-In-Use');
    }
    const before = made();
    of('X-In-Use');
    expect(made()).toBe(before);
  });

  it('is cached for a new name after the cache was filled with others', () => {
    const { of, made } = counted();
    for (let index = 0; index < 2000; index += 1) of(`X-${index}`);
    of('X-New');
    const before = made();
    of('X-New');
    expect(made()).toBe(before);
  });

  it('is not cached for a long name', () => {
    const { of, made } = counted();
    const before = made();
    const long = 'X'.repeat(65);
    expect([of(long), of(long)]).toEqual([long.toLowerCase(), long.toLowerCase()]);
    expect(made() - before).toBe(2);
  });
});
