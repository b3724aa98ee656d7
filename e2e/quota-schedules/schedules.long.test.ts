import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { windowsLine, windowsOver } from './report.ts';
import { startScheduleRunner, type ScheduleRunner } from './run-schedule.ts';
import type { FaultSequence } from './schedule.ts';

const testTimeoutMs = 120_000;

/** `npm run test:quotas` runs random schedules. */
const SCHEDULES: readonly { what: string; faults: readonly FaultSequence[] }[] = [
  {
    what: 'NATS is killed, and paused when it is back',
    faults: [
      [
        [700, { what: 'nats_killed', forMs: 900 }],
        [800, { what: 'nats_paused', forMs: 700 }],
      ],
    ],
  },
  {
    what: 'NATS is killed while one data plane is cut off from it',
    faults: [
      [[400, { what: 'link_cut', dataPlane: 0, how: 'refused', forMs: 2500 }]],
      [[1500, { what: 'nats_killed', forMs: 600 }]],
    ],
  },
];

describe('a quota across three data planes', () => {
  let runner: ScheduleRunner;
  beforeAll(async () => {
    runner = await startScheduleRunner();
  }, testTimeoutMs);
  afterAll(() => runner.close());

  it.each(SCHEDULES)(
    'grants no more than its limit in any window when $what',
    async ({ faults }) => {
      const windows = await runner.run({ kind: 'several', someDataPlanes: [1], faults });
      expect(windows.length).toBeGreaterThanOrEqual(6);
      expect(windows.some(({ touched }) => touched)).toBe(true);
      expect(windowsOver(windows).length > 0 ? windowsLine(windows) : 'none').toBe('none');
    },
    testTimeoutMs,
  );
});
