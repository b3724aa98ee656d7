import { describe, expect, it } from '@jest/globals';
import { processUseSchema } from '@gateway/shared/heartbeats/process-use';
import { manualClock } from '@gateway/shared/test/manual-clock';
import fc from 'fast-check';
import { ownProcess, ProcessUseMeter, type ProcessFigures } from './process-use-meter.ts';

const MIB = 1024 ** 2;
const NO_LIMIT = 2 ** 64;

function setUp(machineBytes = 8192 * MIB) {
  const clock = manualClock();
  const now = { cpuMicros: 5_000_000, residentBytes: 200 * MIB, limitBytes: NO_LIMIT, delayMs: 0 };
  let limitReads = 0;
  const figures: ProcessFigures = {
    cpuMicros: () => now.cpuMicros,
    residentBytes: () => now.residentBytes,
    memoryLimitBytes() {
      limitReads += 1;
      return now.limitBytes;
    },
    machineBytes: () => machineBytes,
    takeLongestDelayMs() {
      const { delayMs } = now;
      now.delayMs = 0;
      return delayMs;
    },
  };
  const meter = new ProcessUseMeter(figures, clock);
  return { clock, now, meter, figures, limitReads: () => limitReads };
}

describe('the use of a process', () => {
  it('has the CPU time of each period, of one core, and the longest delay in it', () => {
    const { clock, now, meter } = setUp();
    for (const [ms, micros, delayMs, ratio] of [
      [2000, 500_000, 3.4, 0.25],
      // Garbage is collected by more threads.
      [2000, 3_000_000, 250.6, 1.5],
      [2000, 0, 0, 0],
      [60_000, 20_000, 1, 0.0003],
    ] as const) {
      clock.advance(ms);
      now.cpuMicros += micros;
      now.delayMs = delayMs;
      expect(meter.read()).toMatchObject({
        process_cpu_ratio: ratio,
        event_loop_delay_ms: Math.round(delayMs),
        process_resident_memory_bytes: 200 * MIB,
      });
    }
  });

  it('is not measured over less than a second', () => {
    const { clock, now, meter } = setUp();
    now.cpuMicros += 900_000;
    now.delayMs = 40;
    clock.advance(999);
    expect(meter.read()).toMatchObject({ process_cpu_ratio: null, event_loop_delay_ms: null });
    clock.advance(1001);
    const first = { process_cpu_ratio: 0.45, event_loop_delay_ms: 40 };
    expect(meter.read()).toMatchObject(first);
    now.cpuMicros += 300_000;
    now.delayMs = 70;
    clock.advance(300);
    now.residentBytes = 300 * MIB;
    expect(meter.read()).toMatchObject({
      ...first,
      process_resident_memory_bytes: 300 * MIB,
    });
    clock.advance(700);
    expect(meter.read()).toMatchObject({ process_cpu_ratio: 0.3, event_loop_delay_ms: 70 });
  });

  it('has the limit of the cgroup, which it reads once a minute', () => {
    const { clock, now, meter, limitReads } = setUp();
    now.limitBytes = 512 * MIB;
    expect(meter.read().memory_limit_bytes).toBe(512 * MIB);
    now.limitBytes = 1024 * MIB;
    clock.advance(59_999);
    expect(meter.read().memory_limit_bytes).toBe(512 * MIB);
    expect(limitReads()).toBe(1);
    clock.advance(1);
    expect(meter.read().memory_limit_bytes).toBe(1024 * MIB);
  });

  it.each([0, 8192 * MIB + 1, NO_LIMIT, 2 ** 63 - 4096])('has no limit if that is %p', (bytes) => {
    const { now, meter } = setUp();
    now.limitBytes = bytes;
    expect(meter.read().memory_limit_bytes).toBeNull();
  });

  it('is within the bounds of a heartbeat, whatever the process reports', () => {
    const figure = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(NaN, Infinity, -1, 1e300));
    const step = fc.record({
      ms: fc.nat({ max: 5000 }),
      cpuMicros: figure,
      residentBytes: figure,
      limitBytes: figure,
      delayMs: figure,
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), figure, (steps, machineBytes) => {
        const { clock, now, meter } = setUp(machineBytes);
        for (const { ms, ...figures } of steps) {
          clock.advance(ms);
          Object.assign(now, figures);
          const sent = JSON.stringify(meter.read());
          // What is out of bounds, or NaN, would be read as null.
          expect(JSON.stringify(processUseSchema.parse(JSON.parse(sent)))).toBe(sent);
        }
      }),
    );
  });

  it('of this process is that of the process', () => {
    const clock = manualClock();
    const figures = ownProcess({ takeLongestMs: () => 7 });
    const meter = new ProcessUseMeter(figures, clock);
    const untilMicros = figures.cpuMicros() + 20_000;
    // The processor does it in the time that it takes; the clock does not move.
    while (figures.cpuMicros() < untilMicros);
    clock.advance(1000);
    const use = meter.read();
    expect(use.process_cpu_ratio).toBeGreaterThanOrEqual(0.02);
    expect(use.event_loop_delay_ms).toBe(7);
    expect(use.process_resident_memory_bytes).toBeGreaterThan(20 * MIB);
    const limitBytes = use.memory_limit_bytes ?? figures.machineBytes();
    expect(limitBytes).toBeGreaterThan(use.process_resident_memory_bytes ?? NaN);
    expect(limitBytes).toBeLessThanOrEqual(figures.machineBytes());
  });
});
