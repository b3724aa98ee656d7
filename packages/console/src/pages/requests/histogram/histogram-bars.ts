import { STATUS_CLASSES, type Counts, type StatusClass } from './counts.ts';
import type { PeriodEnds } from '../periods.ts';

/** A step of the histogram, also one without requests. */
export interface HistogramBar extends PeriodEnds {
  readonly requests: number;
  /** The classes that have requests, from the bottom up. */
  readonly parts: readonly { readonly name: StatusClass; readonly requests: number }[];
}

/** The bars of a period, oldest first. They are aligned to the clock, so the first and the last one may be cut. */
export function barsOf({ period, stepMs, steps }: Counts): readonly HistogramBar[] {
  const { fromMs, toMs } = period;
  const byTime = new Map(steps.map((step) => [step.atMs, step.byClass]));
  const firstMs = Math.floor(fromMs / stepMs) * stepMs;
  const count = Math.max(1, Math.ceil((toMs - firstMs) / stepMs));
  return Array.from({ length: count }, (_none, index): HistogramBar => {
    const atMs = firstMs + index * stepMs;
    const byClass = byTime.get(atMs);
    const parts = STATUS_CLASSES.flatMap((name) => {
      const requests = byClass?.[name] ?? 0;
      return requests === 0 ? [] : [{ name, requests }];
    });
    return {
      fromMs: Math.max(atMs, fromMs),
      toMs: Math.min(atMs + stepMs, toMs),
      requests: parts.reduce((sum, one) => sum + one.requests, 0),
      parts,
    };
  });
}

/** The period from one bar to another one, in either order. */
export function periodOfBars(
  bars: readonly HistogramBar[],
  one: number,
  other: number,
): PeriodEnds | undefined {
  const first = bars[Math.min(one, other)];
  const last = bars[Math.max(one, other)];
  return first === undefined || last === undefined
    ? undefined
    : { fromMs: first.fromMs, toMs: last.toMs };
}

/** The requests of the period by class of status, the classes that have any. */
export function totalsOf({
  steps,
}: Pick<Counts, 'steps'>): readonly (readonly [StatusClass, number])[] {
  return STATUS_CLASSES.flatMap((name) => {
    const sum = steps.reduce((all, { byClass }) => all + byClass[name], 0);
    return sum === 0 ? [] : [[name, sum] as const];
  });
}
