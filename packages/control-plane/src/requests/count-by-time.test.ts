import { describe, expect, it } from '@jest/globals';
import { countByTime, type CountedPeriod, type PeriodCount } from './count-by-time.ts';

const HOUR_MS = 3_600_000;
const PERIOD = { sinceMs: 0, untilMs: 100 * HOUR_MS, maxRecords: 1000 };

/** Postgres, of which an hour takes this long, with a record each second. */
function slowStore(msPerHour: number) {
  let nowMs = 0;
  const asked: CountedPeriod[] = [];
  return {
    asked,
    clock: { monotonicMs: () => nowMs },
    count: (period: CountedPeriod, timeoutMs: number): Promise<PeriodCount> => {
      asked.push(period);
      const ms = ((period.untilMs - period.sinceMs) / HOUR_MS) * msPerHour;
      nowMs += Math.min(ms, timeoutMs);
      if (ms > timeoutMs)
        return Promise.reject(Object.assign(new Error('slow'), { code: '57014' }));
      return Promise.resolve({ requests: 1, oldestMs: undefined });
    },
  };
}

describe('the count of a period', () => {
  it('is one statement if Postgres is quick', async () => {
    const store = slowStore(1);
    const { counts, countedFromMs } = await countByTime(store.count, store.clock, PERIOD);
    expect([counts.length, countedFromMs]).toEqual([1, 0]);
  });

  it('ends after about three seconds with what was counted of the newest records', async () => {
    const store = slowStore(200);
    const { counts, countedFromMs } = await countByTime(store.count, store.clock, PERIOD);
    expect(store.clock.monotonicMs()).toBeLessThanOrEqual(2500);
    expect(countedFromMs).toBeLessThan(PERIOD.untilMs);
    expect(countedFromMs).toBeGreaterThan(0);
    // The windows follow each other without a gap, and none is counted twice.
    const [, ...windows] = store.asked;
    const counted = windows.filter(({ sinceMs }) => sinceMs >= countedFromMs);
    expect(counted.length).toBe(counts.length);
    expect(counted.map(({ untilMs }) => untilMs)).toEqual([
      PERIOD.untilMs,
      ...counted.slice(0, -1).map(({ sinceMs }) => sinceMs),
    ]);
  });

  it('ends where so many records were counted', async () => {
    const count = () => Promise.resolve({ requests: 1000, oldestMs: 42 });
    const { countedFromMs } = await countByTime(count, { monotonicMs: () => 0 }, PERIOD);
    expect(countedFromMs).toBe(42);
  });

  it('fails as Postgres fails', async () => {
    const count = () => Promise.reject(new Error('gone'));
    const counting = countByTime(count, { monotonicMs: () => 0 }, PERIOD);
    await expect(counting).rejects.toThrow('gone');
  });
});
