import { describe, expect, it } from '@jest/globals';
import type { Sample } from './process-samples.ts';
import { judge } from './growth.ts';

const MIB = 1024 * 1024;
const WARM_UP_MS = 60_000;

/** A sample each second for five minutes. */
function run(make: (second: number) => Partial<Omit<Sample, 'atMs'>>): Sample[] {
  return Array.from({ length: 300 }, (_, second) => ({
    atMs: second * 1000,
    residentBytes: 100 * MIB,
    heapBytes: 40 * MIB,
    handles: 50,
    ...make(second),
  }));
}

const flat = (samples: readonly Sample[]) =>
  Object.fromEntries(judge(samples, WARM_UP_MS).map(({ what, isFlat }) => [what, isFlat]));

describe('the verdict of a soak', () => {
  it('accepts growth during the warm-up', () => {
    const samples = run((second) => ({ residentBytes: Math.min(second, 50) * 4 * MIB }));
    expect(flat(samples)).toEqual({ 'resident MB': true, 'heap MB': true, handles: true });
  });

  it.each([
    ['resident MB', (second: number) => ({ residentBytes: (100 + second / 8) * MIB })],
    ['heap MB', (second: number) => ({ heapBytes: (40 + second / 20) * MIB })],
    ['handles', (second: number) => ({ handles: 50 + second / 8 })],
  ])('finds a leak in %s that goes on', (what, make) => {
    const all = { 'resident MB': true, 'heap MB': true, handles: true };
    expect(flat(run(make))).toEqual({ ...all, [what]: false });
  });

  it('does not mistake garbage between two collections for a leak', () => {
    const samples = run((second) => ({ heapBytes: (40 + ((second * second) % 30)) * MIB }));
    expect(flat(samples)['heap MB']).toBe(true);
  });

  it('finds a leak below growing garbage', () => {
    const samples = run((second) => ({ heapBytes: (40 + (second % 30) + second / 15) * MIB }));
    expect(flat(samples)['heap MB']).toBe(false);
  });

  it('does not judge the heap of a process that does not report it', () => {
    expect(flat(run(() => ({ heapBytes: undefined })))).toEqual({
      'resident MB': true,
      handles: true,
    });
  });
});
