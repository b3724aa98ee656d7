import { describe, expect, it } from '@jest/globals';
import { GivenUpWindows } from './recall.ts';

const key = (name: number) => ({ hash: String(name), windowMs: 1000 });

describe('the windows of which the reserve was given up', () => {
  it('are remembered until they have ended, the newest of each key', () => {
    const windows = new GivenUpWindows(10);
    expect(windows.add(key(1), 7, 7500)).toBe(true);
    expect(windows.has(key(1), 7)).toBe(true);
    expect([windows.has(key(1), 8), windows.has(key(2), 7)]).toEqual([false, false]);
    windows.add(key(1), 8, 8500);
    windows.add(key(1), 7, 8500);
    expect(windows.has(key(1), 8)).toBe(true);
  });

  it('are bounded: nothing more is given up while there is no room, and those that have ended make room', () => {
    const windows = new GivenUpWindows(10);
    for (let name = 0; name < 10; name += 1) expect(windows.add(key(name), 7, 7500)).toBe(true);
    expect(windows.add(key(10), 7, 7500)).toBe(false);
    // A known key needs no room.
    expect(windows.add(key(0), 8, 7999)).toBe(true);
    expect(windows.add(key(10), 8, 8001)).toBe(true);
    expect(windows.has(key(0), 8)).toBe(true);
  });
});
