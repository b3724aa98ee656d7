import { describe, expect, it } from '@jest/globals';
import { AUDIT_EVENTS, REQUEST_RECORDS } from '../domain/partitioned-table.ts';
import { planPartitions } from './partition-plan.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const TODAY = Date.UTC(2030, 0, 31);
const ahead = [0, 1, 2, 3].map((days) => TODAY + days * DAY_MS);

describe('the plan of partitions', () => {
  it('makes today and three days ahead, and nothing that is there', () => {
    expect(planPartitions(REQUEST_RECORDS, [], [], TODAY + 1).make).toEqual(ahead);
    expect(planPartitions(REQUEST_RECORDS, ahead.slice(0, 2), [], TODAY + 1).make).toEqual(
      ahead.slice(2),
    );
    expect(planPartitions(REQUEST_RECORDS, ahead, [], TODAY + DAY_MS - 1)).toEqual({
      make: [],
      drop: [],
    });
  });

  it('drops a day no sooner than 30 days after its last record', () => {
    const day = TODAY - 31 * DAY_MS;
    const existing = [day, day + DAY_MS, ...ahead];
    expect(planPartitions(REQUEST_RECORDS, existing, [], TODAY - 1).drop).toEqual([]);
    expect(planPartitions(REQUEST_RECORDS, existing, [], TODAY).drop).toEqual([day]);
  });

  it('makes the partitions of strays within the retention, past or ahead, not of farther days', () => {
    const strays = [-40, -31, -30, -3, 9, 30, 31, 9000].map((days) => TODAY + days * DAY_MS);
    const { make } = planPartitions(REQUEST_RECORDS, ahead, strays, TODAY + 1);
    expect(make).toEqual([-30, -3, 9, 30].map((days) => TODAY + days * DAY_MS));
  });

  it('makes this month and the next of what is kept by the month, over the end of a year', () => {
    const december = Date.UTC(2030, 11);
    const january = Date.UTC(2031, 0);
    expect(planPartitions(AUDIT_EVENTS, [], [], january - 1).make).toEqual([december, january]);
    expect(planPartitions(AUDIT_EVENTS, [december, january], [], january).make).toEqual([
      Date.UTC(2031, 1),
    ]);
  });

  it('drops a month no sooner than 400 days after its last event', () => {
    const [month, next] = [Date.UTC(2028, 11), Date.UTC(2029, 0)];
    const gone = next + 400 * DAY_MS;
    expect(planPartitions(AUDIT_EVENTS, [month, next], [], gone - 1).drop).toEqual([]);
    expect(planPartitions(AUDIT_EVENTS, [month, next], [], gone).drop).toEqual([month]);
  });
});
