import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { manualClock } from '../../test/manual-clock.ts';
import { MetricExport } from './metric-export.ts';
import type { Rejected } from './partial-success.ts';
import type { Period } from './to-metric-data.ts';

const T0 = Date.UTC(2030, 0, 1);

function setUp(send: () => Promise<Rejected | undefined> = () => Promise.resolve(undefined)) {
  const clock = manualClock(T0);
  const lines: string[] = [];
  const write = (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg);
  const periods: Period[] = [];
  const metrics = new MetricExport({
    read: () => Promise.resolve([]),
    send: (_metrics, period) => {
      periods.push(period);
      return send();
    },
    intervalMs: 1000,
    clock,
    log: pino({}, { write }),
  });
  const pass = async (ms: number) => {
    clock.advance(ms);
    await new Promise(setImmediate);
  };
  return { metrics, periods, lines, pass };
}

describe('the export of metrics', () => {
  it('happens at each interval, and when it is closed', async () => {
    const { metrics, periods, pass } = setUp();
    await pass(1000);
    await pass(1000);
    await pass(500);
    await metrics.close(1000);
    expect(periods.map(({ startMs, endMs }) => [startMs - T0, endMs - T0])).toEqual([
      [0, 1000],
      [0, 2000],
      [0, 2500],
    ]);
    expect(metrics.exported).toBe(3);
    await pass(5000);
    expect(periods).toHaveLength(3);
  });

  it('goes on after a failure, which is counted and logged once', async () => {
    let fails = true;
    const { metrics, lines, pass } = setUp(() =>
      fails ? Promise.reject(new Error('away')) : Promise.resolve(undefined),
    );
    await pass(1000);
    await pass(1000);
    expect(lines).toEqual(['metric export failed']);
    fails = false;
    await pass(1000);
    expect(lines).toEqual(['metric export failed', 'metric export recovered']);
    expect([metrics.exported, metrics.failed]).toEqual([1, 2]);
  });

  it('counts those of which the receiver rejects a part, and logs the first of them', async () => {
    let rejected: Rejected | undefined = { count: 2, reason: 'too old' };
    const { metrics, lines, pass } = setUp(() => Promise.resolve(rejected));
    await pass(1000);
    await pass(1000);
    rejected = undefined;
    await pass(1000);
    expect([metrics.exported, metrics.partial, metrics.failed]).toEqual([1, 2, 0]);
    expect(lines).toEqual(['metrics rejected by the receiver']);
  });

  it('never has two exports at one time, and a close does not wait for a receiver that hangs', async () => {
    const { metrics, periods, pass } = setUp(() => new Promise(() => undefined));
    await pass(1000);
    await pass(5000);
    expect(periods).toHaveLength(1);
    const closed = metrics.close(1000);
    await pass(1000);
    await closed;
    expect(periods).toHaveLength(1);
  });
});
