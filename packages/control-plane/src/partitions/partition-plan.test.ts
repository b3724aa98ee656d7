import { describe, expect, it } from '@jest/globals';
import { AUDIT_EVENTS, REQUEST_RECORDS } from './partitioned-table.ts';
import { planPartitions } from './partition-plan.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const TODAY = Date.UTC(2030, 0, 31);
const days = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => TODAY + (from + index) * DAY_MS);

describe('planPartitions', () => {
  it('creates the missing days from 30 days ago to 30 days ahead', () => {
    const { create, drop } = planPartitions(REQUEST_RECORDS, [], TODAY + 1);
    expect(create).toEqual(days(-30, 30));
    expect(drop).toEqual([]);
    expect(planPartitions(REQUEST_RECORDS, days(-30, 28), TODAY + 1).create).toEqual(days(29, 30));
    expect(planPartitions(REQUEST_RECORDS, days(-30, 30), TODAY + DAY_MS - 1)).toEqual({
      create: [],
      drop: [],
    });
  });

  it('drops a day no sooner than 30 days after its last record', () => {
    const existing = days(-31, 30);
    expect(planPartitions(REQUEST_RECORDS, existing, TODAY - 1).drop).toEqual([]);
    const plan = planPartitions(REQUEST_RECORDS, existing, TODAY);
    expect(plan).toEqual({ create: [], drop: days(-31, -31) });
  });

  it('creates this month and the next one of a monthly table, also at the end of a year', () => {
    const [december, january, february] = [
      Date.UTC(2030, 11),
      Date.UTC(2031, 0),
      Date.UTC(2031, 1),
    ];
    expect(planPartitions(AUDIT_EVENTS, [], december + DAY_MS).create).toEqual([december, january]);
    expect(planPartitions(AUDIT_EVENTS, [december, january], january).create).toEqual([february]);
  });

  it('drops a month no sooner than 400 days after its last event', () => {
    const [month, next] = [Date.UTC(2028, 11), Date.UTC(2029, 0)];
    const gone = next + 400 * DAY_MS;
    expect(planPartitions(AUDIT_EVENTS, [month, next], gone - 1).drop).toEqual([]);
    expect(planPartitions(AUDIT_EVENTS, [month, next], gone).drop).toEqual([month]);
  });
});
