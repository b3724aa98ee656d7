import { describe, expect, it } from '@jest/globals';
import { LatencyWindow } from './latency-window.ts';

function filled(latenciesMs: readonly number[], everyMs = 10): LatencyWindow {
  const window = new LatencyWindow();
  latenciesMs.forEach((latencyMs, index) => window.add(latencyMs, index * everyMs));
  return window;
}

const times = (count: number, value: number) => Array.from({ length: count }, () => value);

describe('a window of latencies', () => {
  it('is complete with 25 samples, after 100 ms and after one latency', () => {
    expect(filled(times(24, 5)).isComplete(10_000, 5)).toBe(false);
    expect(filled(times(25, 5)).isComplete(240, 5)).toBe(true);
    expect(filled(times(25, 5), 1).isComplete(99, 5)).toBe(false);
    expect(filled(times(25, 5), 1).isComplete(100, 5)).toBe(true);
    expect(filled(times(25, 5), 1).isComplete(100, 101)).toBe(false);
  });

  it('has the geometric mean, which a few slow responses move little', () => {
    expect(filled([1, 100]).latencyMs).toBeCloseTo(10);
    expect(filled([...times(99, 10), 30_000]).latencyMs).toBeLessThan(11);
  });

  it('follows a queue that delays all responses', () => {
    expect(filled(times(50, 10 + 20)).latencyMs).toBeCloseTo(30);
  });

  it('takes a response that came at once', () => {
    expect(filled([0, 0]).latencyMs).toBeCloseTo(0.01);
  });

  it('leaves out responses before its beginning', () => {
    const window = filled(times(50, 1000));
    window.restart(600);
    window.add(1000, 599);
    window.add(10, 600);
    expect(window.latencyMs).toBeCloseTo(10);
  });
});
