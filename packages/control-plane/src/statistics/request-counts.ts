import { z } from 'zod';
import { timeView } from '../fields/response-fields.ts';

/** The lengths of a step, s: all divide the next one or a day, so that steps are aligned to the clock. */
const STEP_SECONDS = [1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400];

/** More are more points than a chart shows. */
const MAX_STEPS = 120;

/** How many of the newest records are counted at most. */
export const MAX_COUNTED = 100_000;

/** The shortest step that divides the period into at most 120 steps, s. */
export function stepSecondsFor(periodMs: number): number {
  const fitting = STEP_SECONDS.find((seconds) => periodMs <= seconds * 1000 * MAX_STEPS);
  return fitting ?? 86_400;
}

/** The requests of one step with a status of one class; null: no status. */
interface StepCount {
  readonly atMs: number;
  readonly statusClass: number | null;
  readonly requests: number;
}

interface ValueCount {
  readonly value: string;
  readonly requests: number;
}

const count = (what: string, example: number) =>
  z.int().meta({ description: `How many ${what}.`, examples: [example] });

const stepSchema = z.object({
  at: timeView.meta({ description: 'When the step begins.', examples: ['2026-03-01T09:00:00Z'] }),
  requests: z
    .object({
      '1xx': count('have a status from 100 to 199', 0),
      '2xx': count('have a status from 200 to 299', 1180),
      '3xx': count('have a status from 300 to 399', 0),
      '4xx': count('have a status from 400 to 499', 17),
      '5xx': count('have a status from 500 to 599', 3),
      none: count('have no status: the caller left before a response', 0),
    })
    .meta({ description: 'The requests of the step by the class of their status.' }),
});

const valueSchema = z.object({
  value: z.string().meta({ description: 'The value.', examples: ['charges'] }),
  requests: count('requests have it', 1200),
});

/** The schema of `requestCountsView`. */
export const requestCountsSchema = z
  .object({
    from: timeView.meta({
      description: 'The begin of the period.',
      examples: ['2026-03-01T09:00:00Z'],
    }),
    to: timeView.meta({
      description: 'The end of the period; it is not included.',
      examples: ['2026-03-01T10:00:00Z'],
    }),
    counted_from: timeView.meta({
      description:
        'Requests from this time on are counted. It is later than `from` if too many requests match.',
      examples: ['2026-03-01T09:00:00Z'],
    }),
    requests: count('requests were counted', 1200),
    step_seconds: z.int().meta({ description: 'The length of a step.', examples: [60] }),
    steps: z.array(stepSchema).meta({
      description: 'The steps that have requests, oldest first; aligned to the clock in UTC.',
    }),
    values: z.array(valueSchema).meta({
      description: 'The values of `by` with the most requests, most first; empty without `by`.',
    }),
  })
  .meta({ id: 'RequestCounts', description: 'Requests counted by time, status and one value.' });

export interface CountedRequests {
  readonly fromMs: number;
  readonly toMs: number;
  readonly countedFromMs: number;
  readonly stepSeconds: number;
  /** Those of several parts of the period; a step may be in two of them. */
  readonly steps: readonly StepCount[];
  readonly values: readonly ValueCount[];
  /** How many values are shown. */
  readonly limit: number;
}

const NONE = { '1xx': 0, '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, none: 0 };

/** Counts as the API shows them. */
export function requestCountsView(counted: CountedRequests): z.output<typeof requestCountsSchema> {
  const steps = new Map<number, typeof NONE>();
  for (const { atMs, statusClass, requests } of counted.steps) {
    const step = steps.get(atMs) ?? { ...NONE };
    step[classOf(statusClass)] += requests;
    steps.set(atMs, step);
  }
  const values = new Map<string, number>();
  for (const { value, requests } of counted.values) {
    values.set(value, (values.get(value) ?? 0) + requests);
  }
  return requestCountsSchema.parse({
    from: counted.fromMs,
    to: counted.toMs,
    counted_from: counted.countedFromMs,
    requests: counted.steps.reduce((sum, { requests }) => sum + requests, 0),
    step_seconds: counted.stepSeconds,
    steps: [...steps]
      .toSorted(([one], [other]) => one - other)
      .map(([at, requests]) => ({ at, requests })),
    values: [...values]
      .toSorted(([a, some], [b, others]) => others - some || (a < b ? -1 : 1))
      .slice(0, counted.limit)
      .map(([value, requests]) => ({ value, requests })),
  });
}

function classOf(statusClass: number | null): keyof typeof NONE {
  switch (statusClass) {
    case 1:
      return '1xx';
    case 2:
      return '2xx';
    case 3:
      return '3xx';
    case 4:
      return '4xx';
    case 5:
      return '5xx';
    default:
      return 'none';
  }
}
