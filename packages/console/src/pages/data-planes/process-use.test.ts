import { describe, expect, it } from '@jest/globals';
import { cpuUse, eventLoopDelay, memoryUse } from './process-use.ts';

const MIB = 1024 ** 2;

const PLANE = {
  gateway_version: '0.3.0',
  process_cpu_ratio: 0.421,
  process_resident_memory_bytes: 212 * MIB,
  memory_limit_bytes: 512 * MIB,
  event_loop_delay_ms: 6,
};
const NOTHING = {
  process_cpu_ratio: null,
  process_resident_memory_bytes: null,
  memory_limit_bytes: null,
  event_loop_delay_ms: null,
};
const usesOf = (changes: Partial<Parameters<typeof cpuUse>[0]>) =>
  [cpuUse, memoryUse, eventLoopDelay].map((use) => use({ ...PLANE, ...changes }));

describe('what a data plane uses', () => {
  it('is CPU of one core, memory with its limit, and the delay of the event loop', () => {
    expect(usesOf({})).toEqual([
      { text: '42 %', note: 'of one core', isHigh: false },
      { text: '212 MiB', note: 'of 512 MiB for its container', isHigh: false },
      { text: '6 ms', note: 'the longest in 2 s', isHigh: false },
    ]);
    expect(memoryUse({ ...PLANE, memory_limit_bytes: null })).toEqual({
      text: '212 MiB',
      note: 'without a limit',
      isHigh: false,
    });
  });

  it('stands out when little is left', () => {
    const high = (changes: object) => usesOf(changes).map(({ isHigh }) => isHigh);
    const atLimit = {
      process_cpu_ratio: 0.9,
      process_resident_memory_bytes: 461 * MIB,
      event_loop_delay_ms: 250,
    };
    expect(high(atLimit)).toEqual([true, true, true]);
    expect(usesOf(atLimit).map(({ note }) => note)).toEqual([
      'little is left of its core',
      'of 512 MiB for its container: nearly all',
      'requests waited as long',
    ]);
    const below = {
      process_cpu_ratio: 0.89,
      process_resident_memory_bytes: 460 * MIB,
      event_loop_delay_ms: 249,
    };
    expect(high(below)).toEqual([false, false, false]);
  });

  it.each([
    ['0.2.0', 'not reported by release 0.2.0'],
    [null, 'not reported by its release'],
  ])('is not known of a data plane of release %s, and says so', (version, note) => {
    const none = { text: undefined, note, isHigh: false };
    expect(usesOf({ ...NOTHING, gateway_version: version })).toEqual([none, none, none]);
  });

  it('is not measured yet just after the start', () => {
    const none = { text: undefined, note: 'not measured yet', isHigh: false };
    const [cpu, memory, delay] = usesOf({ process_cpu_ratio: null, event_loop_delay_ms: null });
    expect([cpu, delay]).toEqual([none, none]);
    expect(memory?.text).toBe('212 MiB');
  });
});
