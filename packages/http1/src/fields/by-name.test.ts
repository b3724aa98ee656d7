import { describe, expect, it } from '@jest/globals';
import { byName } from './by-name.ts';

/** Counts how often something is worked out. */
function counted(): { readonly of: (name: string) => string; readonly made: () => number } {
  let made = 0;
  const of = byName((name) => {
    made += 1;
    return name.toLowerCase();
  });
  return { of, made: () => made };
}

describe('what follows from a name', () => {
  it('is worked out once for each way to write it', () => {
    const { of, made } = counted();
    for (let turn = 0; turn < 3; turn += 1) {
      expect([of('Host'), of('host'), of('ETag')]).toEqual(['host', 'host', 'etag']);
    }
    expect(made()).toBe(3);
  });

  it('is not kept of more than 512 names, and still right', () => {
    const { of, made } = counted();
    for (let index = 0; index < 600; index += 1) expect(of(`X-${index}`)).toBe(`x-${index}`);
    const before = made();
    for (let index = 0; index < 600; index += 1) expect(of(`X-${index}`)).toBe(`x-${index}`);
    expect(made() - before).toBe(600 - 512);
  });

  it('is not kept of a long name', () => {
    const { of, made } = counted();
    const long = 'X'.repeat(65);
    expect([of(long), of(long)]).toEqual([long.toLowerCase(), long.toLowerCase()]);
    expect(made()).toBe(2);
  });
});
