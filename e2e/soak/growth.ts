import { percentile } from '../harness/figures.ts';
import type { Sample } from './process-samples.ts';

/** The change of one figure of a process over the run. */
export interface Growth {
  readonly what: 'resident MB' | 'heap MB' | 'handles';
  /** In the first third after the warm-up. */
  readonly first: number;
  /** In the last third. */
  readonly last: number;
  readonly isFlat: boolean;
}

const MIB = 1024 * 1024;
/** Growth that still counts as flat: a share of the figure, and the precision of a sample. */
const SLACK = {
  'resident MB': { share: 0.1, margin: 1 },
  'heap MB': { share: 0.1, margin: 2 },
  handles: { share: 0.1, margin: 5 },
} as const;
/** Between two collections a heap grows by garbage; its low values show the live objects. */
const HEAP_RANK = 0.1;

/**
 * Compares the first and the last third of the time after the warm-up, by their medians. Of the
 * heap it compares the lowest tenth, because garbage is no leak.
 *
 * @param samples oldest first
 */
export function judge(samples: readonly Sample[], warmUpMs: number): readonly Growth[] {
  const warm = samples.filter(({ atMs }) => atMs >= warmUpMs);
  const third = Math.floor(warm.length / 3);
  if (third === 0) throw new Error('there are too few samples after the warm-up');
  const parts = [warm.slice(0, third), warm.slice(-third)] as const;
  const growth = (
    what: Growth['what'],
    rank: number,
    figure: (sample: Sample) => number,
  ): Growth => {
    const [first, last] = parts.map((part) => percentile(part.map(figure), rank));
    const { share, margin } = SLACK[what];
    if (first === undefined || last === undefined) throw new Error('unreachable');
    return { what, first, last, isFlat: last <= first * (1 + share) + margin };
  };
  const all = [
    growth('resident MB', 0.5, (sample) => sample.residentBytes / MIB),
    growth('handles', 0.5, (sample) => sample.handles),
  ];
  if (samples[0]?.heapBytes === undefined) return all;
  return [...all, growth('heap MB', HEAP_RANK, (sample) => (sample.heapBytes ?? 0) / MIB)];
}
