import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import type { EnvironmentState } from '../store/publication/publications.ts';
import { SnapshotPlan } from './snapshot-plan.ts';

function setUp() {
  const clock = manualClock();
  const plan = new SnapshotPlan(clock);
  const state: EnvironmentState = {
    environment: 'production',
    configVersion: 9,
    pendingChanges: 0,
    snapshotVersion: 4,
    snapshotAgeMs: 3_600_000,
    snapshotCostMs: 300,
  };
  const look = (change: Partial<EnvironmentState> = {}) => plan.look({ ...state, ...change });
  return { clock, plan, look };
}

describe('the plan of snapshots', () => {
  it('wants one some seconds after the first delta, so that a rush is in it', () => {
    const { clock, plan, look } = setUp();
    expect(look()).toBe(false);
    clock.advance(4999);
    expect(look({ configVersion: 12 })).toBe(false);
    expect(plan.take('production')).toBeUndefined();
    clock.advance(1);
    expect(look({ configVersion: 13 })).toBe(true);
    expect(plan.take('production')).toBe(30_000);
  });

  it('wants none where the newest version is one', () => {
    const { clock, look } = setUp();
    look();
    clock.advance(5000);
    expect(look({ snapshotVersion: 9 })).toBe(false);
    expect(look()).toBe(false);
  });

  it('spends a hundredth of the time on them at most', () => {
    const { clock, look } = setUp();
    look();
    clock.advance(60_000);
    expect(look({ snapshotAgeMs: 29_999 })).toBe(false);
    expect(look({ snapshotAgeMs: 30_000 })).toBe(true);
    expect(look({ snapshotAgeMs: 4999, snapshotCostMs: 1 })).toBe(false);
    expect(look({ snapshotAgeMs: 5000, snapshotCostMs: 1 })).toBe(true);
  });

  it('waits five minutes at most, as one that took long may have stood still', () => {
    const { clock, look } = setUp();
    look();
    clock.advance(60_000);
    expect(look({ snapshotAgeMs: 299_999, snapshotCostMs: 60_000 })).toBe(false);
    expect(look({ snapshotAgeMs: 300_000, snapshotCostMs: 60_000 })).toBe(true);
  });

  it('gives a want once, and the most pressing of several', () => {
    const { plan } = setUp();
    plan.want('production', 5000);
    plan.want('production', 1000);
    plan.want('production', 30_000);
    expect([plan.take('production'), plan.take('production')]).toEqual([1000, undefined]);
  });
});
