import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import type { EnvironmentState } from './store/publications.ts';
import { SnapshotSchedule } from './snapshot-schedule.ts';

function setUp() {
  const clock = manualClock();
  const schedule = new SnapshotSchedule(clock);
  const state: EnvironmentState = {
    environment: 'production',
    configVersion: 9,
    pendingChanges: 0,
    snapshotVersion: 4,
    snapshotAgeMs: 3_600_000,
    snapshotCostMs: 300,
  };
  const check = (change: Partial<EnvironmentState> = {}) => schedule.check({ ...state, ...change });
  return { clock, schedule, check };
}

describe('the snapshot schedule', () => {
  it('needs one some seconds after the first delta, so that it contains a burst', () => {
    const { clock, schedule, check } = setUp();
    expect(check()).toBe(false);
    clock.advance(4999);
    expect(check({ configVersion: 12 })).toBe(false);
    expect(schedule.take('production')).toBeUndefined();
    clock.advance(1);
    expect(check({ configVersion: 13 })).toBe(true);
    expect(schedule.take('production')).toBe(30_000);
  });

  it('needs none if the newest version is a snapshot', () => {
    const { clock, check } = setUp();
    check();
    clock.advance(5000);
    expect(check({ snapshotVersion: 9 })).toBe(false);
    expect(check()).toBe(false);
  });

  it('spends at most a hundredth of the time on them', () => {
    const { clock, check } = setUp();
    check();
    clock.advance(60_000);
    expect(check({ snapshotAgeMs: 29_999 })).toBe(false);
    expect(check({ snapshotAgeMs: 30_000 })).toBe(true);
    expect(check({ snapshotAgeMs: 4999, snapshotCostMs: 1 })).toBe(false);
    expect(check({ snapshotAgeMs: 5000, snapshotCostMs: 1 })).toBe(true);
  });

  it('waits at most five minutes, because a suspended process measures a huge cost', () => {
    const { clock, check } = setUp();
    check();
    clock.advance(60_000);
    expect(check({ snapshotAgeMs: 299_999, snapshotCostMs: 60_000 })).toBe(false);
    expect(check({ snapshotAgeMs: 300_000, snapshotCostMs: 60_000 })).toBe(true);
  });

  it('returns a request once, and the shortest time of several', () => {
    const { schedule } = setUp();
    schedule.request('production', 5000);
    schedule.request('production', 1000);
    schedule.request('production', 30_000);
    expect([schedule.take('production'), schedule.take('production')]).toEqual([1000, undefined]);
  });
});
