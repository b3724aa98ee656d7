import { z } from 'zod';
import { timeView } from '../fields/response-fields.ts';
import { periodFields, sumsFields } from './statistics.ts';

/** What routes are ordered by. */
export const ROUTE_ORDERS = ['requests', 'errors', 'error_rate', 'p95_ms'] as const;

export type RouteOrder = (typeof ROUTE_ORDERS)[number];

const rejectedField = z.int().meta({
  description:
    'How many of them the gateway refused, such as with 401 or 429: they do not count against a quota.',
  examples: [2],
});

const stepSchema = z.object({
  at: timeView.meta({ description: 'When the step begins.', examples: ['2026-03-01T09:00:00Z'] }),
  requests: sumsFields.requests,
  errors: sumsFields.errors,
  rejected: rejectedField,
});

const routeSchema = z.object({
  environment: z
    .string()
    .nullable()
    .meta({ description: 'The environment of the route.', examples: ['production'] }),
  route: z.string().meta({ description: 'The name of the route.', examples: ['charges'] }),
  ...sumsFields,
  rejected: rejectedField,
  steps: z.array(stepSchema).meta({
    description: 'The steps that have requests, oldest first; empty without `step`.',
  }),
});

/** The schema of the routes with the most requests, errors or time. */
export const routeStatisticsSchema = z
  .object({
    ...periodFields,
    routes: z
      .array(routeSchema)
      .meta({ description: 'The routes that have requests, in the order.' }),
  })
  .meta({ id: 'RouteStatistics', description: 'Counts and durations of requests by route.' });
