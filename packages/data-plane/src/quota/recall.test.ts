import { describe, expect, it } from '@jest/globals';
import { GivenUpWindows, partToGiveUp } from './recall.ts';

const key = (name: number) => ({ hash: String(name), windowMs: 1000 });
const kept = (window: number, keeps = 0) => ({ window, limit: 10, keeps });

describe('the windows of which the reserve was given up', () => {
  it('are remembered until they have ended, the newest of each key', () => {
    const windows = new GivenUpWindows(10);
    expect(windows.add(key(1), kept(7, 3), 7500)).toBe(true);
    expect(windows.keeps(key(1), 7)).toBe(3);
    windows.add(key(1), kept(7, 1), 7500);
    expect(windows.keeps(key(1), 7)).toBe(1);
    expect([windows.keeps(key(1), 8), windows.keeps(key(2), 7)]).toEqual([undefined, undefined]);
    windows.add(key(1), kept(8), 8500);
    windows.add(key(1), kept(7), 8500);
    expect(windows.keeps(key(1), 8)).toBe(0);
  });

  it('are bounded: nothing more is given up while there is no room, and those that have ended make room', () => {
    const windows = new GivenUpWindows(10);
    for (let name = 0; name < 10; name += 1) {
      expect(windows.add(key(name), kept(7), 7500)).toBe(true);
    }
    expect(windows.add(key(10), kept(7), 7500)).toBe(false);
    // A known key needs no room.
    expect(windows.add(key(0), kept(8), 7999)).toBe(true);
    expect(windows.add(key(10), kept(8), 8001)).toBe(true);
    expect(windows.keeps(key(0), 8)).toBe(0);
  });
});

describe('what is given up of a reserve', () => {
  it('is what is wanted and at least half, so that all of it is given up after a few questions', () => {
    expect(partToGiveUp(100, 3)).toBe(50);
    expect(partToGiveUp(100, 80)).toBe(80);
    expect(partToGiveUp(100, 1000)).toBe(100);
    expect([partToGiveUp(12, 0), partToGiveUp(7, 0), partToGiveUp(0, 5)]).toEqual([10, 7, 0]);
  });
});
