import { describe, expect, it } from '@jest/globals';
import { ReleasedWindows } from './reserves.ts';

const key = (name: number) => ({ hash: String(name), windowMs: 1000 });
const released = (window: number, left = 0) => ({ window, limit: 10, left });

describe('the windows of which the reserve was released', () => {
  it('are remembered until they have ended, the newest of each key', () => {
    const windows = new ReleasedWindows(10);
    expect(windows.add(key(1), released(7, 3), 7500)).toBe(true);
    expect(windows.left(key(1), 7)).toBe(3);
    windows.add(key(1), released(7, 1), 7500);
    expect(windows.left(key(1), 7)).toBe(1);
    expect([windows.left(key(1), 8), windows.left(key(2), 7)]).toEqual([undefined, undefined]);
    windows.add(key(1), released(8), 8500);
    windows.add(key(1), released(7), 8500);
    expect(windows.left(key(1), 8)).toBe(0);
  });

  it('are bounded: nothing more is released while there is no room, and those that have ended make room', () => {
    const windows = new ReleasedWindows(10);
    for (let name = 0; name < 10; name += 1) {
      expect(windows.add(key(name), released(7), 7500)).toBe(true);
    }
    expect(windows.add(key(10), released(7), 7500)).toBe(false);
    // A known key needs no room.
    expect(windows.add(key(0), released(8), 7999)).toBe(true);
    expect(windows.add(key(10), released(8), 8001)).toBe(true);
    expect(windows.left(key(0), 8)).toBe(0);
  });
});
