import { describe, expect, it } from '@jest/globals';
import { DAY_MS, planPartitions } from './partition-plan.ts';

const TODAY = Date.UTC(2030, 0, 31);
const ahead = [0, 1, 2, 3].map((days) => TODAY + days * DAY_MS);

describe('the plan of partitions', () => {
  it('makes today and three days ahead, and nothing that is there', () => {
    expect(planPartitions([], [], TODAY + 1).make).toEqual(ahead);
    expect(planPartitions(ahead.slice(0, 2), [], TODAY + 1).make).toEqual(ahead.slice(2));
    expect(planPartitions(ahead, [], TODAY + DAY_MS - 1)).toEqual({ make: [], drop: [] });
  });

  it('drops a day no sooner than 30 days after its last record', () => {
    const day = TODAY - 31 * DAY_MS;
    const existing = [day, day + DAY_MS, ...ahead];
    expect(planPartitions(existing, [], TODAY - 1).drop).toEqual([]);
    expect(planPartitions(existing, [], TODAY).drop).toEqual([day]);
  });

  it('makes the partitions of strays within the retention, not of past or far days', () => {
    const strays = [-40, -31, -30, -3, 9].map((days) => TODAY + days * DAY_MS);
    const { make } = planPartitions(ahead, strays, TODAY + 1);
    expect(make).toEqual([TODAY - 30 * DAY_MS, TODAY - 3 * DAY_MS]);
  });
});
