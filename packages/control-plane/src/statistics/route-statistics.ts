import { z } from 'zod';
import { periodFields, sumsFields } from './statistics.ts';

/** What routes are ordered by. */
export const ROUTE_ORDERS = ['requests', 'errors', 'p95_ms'] as const;

export type RouteOrder = (typeof ROUTE_ORDERS)[number];

const routeSchema = z.object({
  environment: z
    .string()
    .nullable()
    .meta({ description: 'The environment of the route.', examples: ['production'] }),
  route: z.string().meta({ description: 'The name of the route.', examples: ['charges'] }),
  ...sumsFields,
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
