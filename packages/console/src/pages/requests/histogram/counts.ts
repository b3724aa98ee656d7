import type { PeriodEnds } from '../periods.ts';

/** The classes of statuses, from the bottom of a bar up. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none', '1xx'] as const;

export type StatusClass = (typeof STATUS_CLASSES)[number];

/** Requests counted for the list, with the period that was asked for. */
export interface Counts {
  readonly period: PeriodEnds;
  readonly countedFromMs: number;
  readonly requests: number;
  readonly stepMs: number;
  readonly steps: readonly CountedStep[];
}

/** One step of the histogram. */
interface CountedStep {
  readonly atMs: number;
  readonly byClass: Readonly<Record<StatusClass, number>>;
}
