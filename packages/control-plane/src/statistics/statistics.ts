import { z } from 'zod';
import { grpcStatusField } from '@gateway/shared/records/attempt';
import { durationQuantile, DURATION_BUCKETS } from './duration-histogram.ts';
import { timeView } from '../fields/response-fields.ts';

/** The lengths of a step, s, by their names. */
export const STEPS = { '1m': 60, '15m': 900, '1h': 3600, '6h': 21_600, '1d': 86_400 };

export type StepName = keyof typeof STEPS;

/** More would be too many rows to add up in a moment, and more points than a chart shows. */
export const MAX_STEPS = 120;

/** What is counted in a period. */
export interface Sums {
  readonly requests: number;
  readonly errors: number;
  /** By bucket of the duration. */
  readonly durations: readonly number[];
}

export const NO_REQUESTS: Sums = {
  requests: 0,
  errors: 0,
  durations: Array.from({ length: DURATION_BUCKETS }, () => 0),
};

const quantile = (percent: number) =>
  z
    .number()
    .nullable()
    .meta({
      description: `The duration that ${percent} % of the requests do not exceed, ms, within 9.1 %. null: there are no requests.`,
      examples: [42.3],
    });

/** The fields of what is counted. */
export const sumsFields = {
  requests: z.int().meta({ description: 'How many requests there were.', examples: [1200] }),
  errors: z.int().meta({
    description:
      'How many of them had the outcome `upstream_error`, `upstream_unavailable` or `timeout`, or a status of 500 or more and another outcome than `success`.',
    examples: [3],
  }),
  p50_ms: quantile(50),
  p95_ms: quantile(95),
  p99_ms: quantile(99),
};

const stepSchema = z.object({
  at: timeView.meta({ description: 'When the step begins.', examples: ['2026-03-01T09:00:00Z'] }),
  ...sumsFields,
});

/** The fields of the period. */
export const periodFields = {
  from: timeView.meta({
    description: 'The begin of the period, a whole minute.',
    examples: ['2026-03-01T09:00:00Z'],
  }),
  to: timeView.meta({
    description: 'The end of the period, a whole minute; it is not included.',
    examples: ['2026-03-01T10:00:00Z'],
  }),
};

const grpcStatusSchema = z.object({
  grpc_status: grpcStatusField.meta({ description: 'The gRPC status.', examples: [14] }),
  requests: z.int().meta({ description: 'How many calls ended with it.', examples: [3] }),
});

/** More names of versions than that are of old ones, and more than a chart shows. Of services, a page of the list. */
export const MAX_GROUPS = { version: 20, status_class: 20, status: 20, service_id: 200 } as const;

const groupSchema = z.object({
  value: z
    .string()
    .nullable()
    .meta({
      description:
        'The name of the version, the class of the status, such as `5xx`, with `by=status` also `429`, or the id of the service. null: there was no version, no response, or no service.',
      examples: ['v2'],
    }),
  ...sumsFields,
  steps: z.array(stepSchema).meta({
    description: 'The steps in which it has requests, oldest first; empty without `step`.',
  }),
});

/** The schema of `statisticsView`. */
export const statisticsSchema = z
  .object({
    ...periodFields,
    total: z.object(sumsFields).meta({ description: 'The whole period.' }),
    steps: z.array(stepSchema).meta({
      description:
        'The steps that have requests, oldest first; empty without `step`. The first and the last one may be cut by the period.',
    }),
    grpc_statuses: z.array(grpcStatusSchema).meta({
      description: 'The gRPC statuses with which gRPC calls of the whole period ended, in order.',
    }),
    groups: z.array(groupSchema).meta({
      description: `The requests by what \`by\` names, those with the most first, at most ${MAX_GROUPS.version}, and ${MAX_GROUPS.service_id} services; empty without \`by\`.`,
    }),
  })
  .meta({ id: 'Statistics', description: 'Counts and durations of requests.' });

/** Sums as the API shows them. */
export function sumsView({ requests, errors, durations }: Sums) {
  const shown = (q: number) => {
    const ms = durationQuantile(durations, q);
    return ms === undefined ? null : Math.round(ms * 100) / 100;
  };
  return { requests, errors, p50_ms: shown(0.5), p95_ms: shown(0.95), p99_ms: shown(0.99) };
}

/** The sums of several periods together. */
export function addedUp(all: readonly Sums[]): Sums {
  const durations = [...NO_REQUESTS.durations];
  let requests = 0;
  let errors = 0;
  for (const one of all) {
    requests += one.requests;
    errors += one.errors;
    for (const [index, count] of one.durations.entries()) {
      durations[index] = (durations[index] ?? 0) + count;
    }
  }
  return { requests, errors, durations };
}

/** The requests that are gRPC calls, by the status with which they ended, as the API shows them. */
export function countGrpcStatuses(
  all: readonly { readonly grpcStatus: number | null; readonly requests: number }[],
): z.input<typeof grpcStatusSchema>[] {
  const counts = new Map<number, number>();
  for (const { grpcStatus, requests } of all) {
    if (grpcStatus !== null) counts.set(grpcStatus, (counts.get(grpcStatus) ?? 0) + requests);
  }
  return [...counts]
    .sort(([one], [other]) => one - other)
    .map(([grpc_status, requests]) => ({ grpc_status, requests }));
}
