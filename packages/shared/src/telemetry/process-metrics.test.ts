import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { manualClock } from '../../test/manual-clock.ts';
import { collectProcessMetrics } from './process-metrics.ts';

function setUp() {
  const clock = manualClock();
  let lateMs = 0;
  const registry = new Registry();
  const delay = collectProcessMetrics(registry, {
    ...clock,
    monotonicMs: () => clock.monotonicMs() + lateMs,
  });
  const lines = async (name: string) =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));
  return { clock, delay, lines, stall: (ms: number) => (lateMs += ms) };
}

describe('the metrics of a process', () => {
  it('contain the delay of timers', async () => {
    const { clock, lines, stall } = setUp();
    clock.advance(1000);
    stall(300);
    clock.advance(1000);
    const counted = await lines('gateway_event_loop_delay_seconds_');
    expect(counted).toContain('gateway_event_loop_delay_seconds_bucket{le="0.01"} 19');
    expect(counted).toContain('gateway_event_loop_delay_seconds_bucket{le="0.25"} 19');
    expect(counted).toContain('gateway_event_loop_delay_seconds_bucket{le="0.5"} 20');
    expect(counted).toContain('gateway_event_loop_delay_seconds_sum 0.3');
  });

  it('say how long the longest delay was since they were last asked', () => {
    const { clock, delay, stall } = setUp();
    expect(delay.takeLongestMs()).toBe(0);
    for (const ms of [300, 20]) {
      stall(ms);
      clock.advance(1000);
    }
    expect(delay.takeLongestMs()).toBe(300);
    expect(delay.takeLongestMs()).toBe(0);
    stall(20);
    clock.advance(1000);
    expect(delay.takeLongestMs()).toBe(20);
  });

  it('are the default metrics of Node without the event-loop figures of the library', async () => {
    const { lines } = setUp();
    for (const name of ['process_cpu_seconds_total', 'nodejs_gc_duration_seconds'])
      expect((await lines(name)).length + (await lines(`# HELP ${name}`)).length).toBeGreaterThan(
        0,
      );
    const lag = await lines('nodejs_eventloop_lag');
    expect(lag.map((line) => line.split(' ')[0])).toEqual(['nodejs_eventloop_lag_seconds']);
  });
});
