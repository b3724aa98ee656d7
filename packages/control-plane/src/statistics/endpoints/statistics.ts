import type { Clock } from '@gateway/shared/clock';
import { OUTCOMES } from '@gateway/shared/records/record';
import { z } from 'zod';
import { coveredNames } from '../../access/access.ts';
import { choiceField } from '@gateway/shared/definitions/fields';
import { ROUTE_ORDERS, routeStatisticsSchema } from '../route-statistics.ts';
import { statisticsPeriod, type StatisticsPeriod } from '../statistics-period.ts';
import { segmentsOf } from '../statistics-segments.ts';
import {
  addedUp,
  countGrpcStatuses,
  MAX_STEPS,
  statisticsSchema,
  STEPS,
  sumsView,
  type StepName,
} from '../statistics.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { invalidField } from '../../http/input.ts';
import {
  environmentFilter,
  listParameters,
  textParameter,
  timeParameter,
} from '../../http/list-query.ts';
import { ok } from '../../http/reply.ts';
import { grpcStatusFilter } from '../../requests/endpoints/grpc-status-filter.ts';
import { statusClassFilter, statusClassOf } from '../../requests/endpoints/status-class.ts';
import { createSearchQueue } from '../../http/search-queue.ts';
import type { Database } from '../../store/database.ts';
import { readRouteStatistics } from '../store/read-route-statistics.ts';
import { readStatistics } from '../store/read-statistics.ts';

/** The other connections of the pool are for the other calls and for the ingest of records. */
const MAX_READS = 4;
const STEP_NAMES = Object.keys(STEPS) as [StepName, ...StepName[]];

const nameFilter = (what: string, example: string) =>
  textParameter()
    .regex(/^[^\0]{0,255}$/, { error: 'must be at most 255 characters without NUL' })
    .optional()
    .meta({ description: `Only requests ${what}.`, examples: [example] });

const periodParameters = {
  from: timeParameter.optional().meta({
    description:
      'The begin of the period, rounded down to a minute. Default: an hour before `to`. Statistics are kept for 30 days.',
    examples: ['2026-03-01T09:00:00Z'],
  }),
  to: timeParameter.optional().meta({
    description: 'The end of the period, rounded up to a minute. Default: now.',
    examples: ['2026-03-01T10:00:00Z'],
  }),
};

const query = z.strictObject({
  ...periodParameters,
  step: choiceField(STEP_NAMES)
    .optional()
    .meta({
      description:
        'The length of the steps, which are aligned to the clock in UTC. A period may have 120 of them. Default: no steps.',
      examples: ['15m'],
    }),
  environment: environmentFilter,
  route: nameFilter('to the route of this name', 'charges'),
  version: nameFilter('to the version of this name', 'v2'),
  service_id: nameFilter('to this service', 'svc_01k2tm8v4zj5r7c9e1g3p6t8w0'),
  status_class: statusClassFilter,
  grpc_status: grpcStatusFilter,
  outcome: choiceField(OUTCOMES)
    .optional()
    .meta({ description: 'Only requests that ended like this.', examples: ['timeout'] }),
});

const routesQuery = z.strictObject({
  ...periodParameters,
  environment: environmentFilter,
  order: choiceField(ROUTE_ORDERS)
    .default('requests')
    .meta({
      description:
        'Which routes come first: those with the most of this. `p95_ms` compares the 1000 routes with the most requests.',
      examples: ['errors'],
    }),
  limit: listParameters.limit,
});

export interface StatisticsDeps {
  readonly db: Database;
  readonly clock: Clock;
}

/** `GET /v1/stats` and `GET /v1/stats/routes`: counts and durations of requests. */
export function statisticsEndpoints({ db, clock }: StatisticsDeps): readonly Endpoint[] {
  const runRead = createSearchQueue(MAX_READS, clock);
  const periodOf = (from: number | undefined, to: number | undefined): StatisticsPeriod => {
    const period = statisticsPeriod(from, to, clock.nowMs());
    if (period === undefined) throw invalidField('from', 'must be before to');
    return period;
  };
  const read = endpoint({
    method: 'GET',
    path: '/v1/stats',
    operationId: 'getStatistics',
    tag: 'Requests',
    summary: 'Count requests',
    description:
      'Counts requests and errors, and estimates percentiles of their durations, for a period of the last 30 days and for ' +
      'steps of it. The counts are those of the request records that the token covers. They include a request within a ' +
      'second after its response.',
    scope: 'requests:read',
    answers: 'one',
    data: statisticsSchema,
    errors: ['gateway_overloaded'],
    query,
    async handle({ query: given, token, signal }) {
      const {
        step,
        from,
        to,
        status_class: statusClass,
        service_id: serviceId,
        grpc_status: grpcStatus,
        ...filters
      } = given;
      const { fromMs, toMs, keptFromMs } = periodOf(from, to);
      const stepSeconds = step === undefined ? undefined : STEPS[step];
      if (stepSeconds !== undefined && toMs - fromMs > MAX_STEPS * stepSeconds * 1000) {
        throw invalidField('step', `must divide the period into at most ${MAX_STEPS} steps`);
      }
      const sums = await runRead(signal, () =>
        readStatistics(db, {
          ...filters,
          serviceId,
          grpcStatus,
          statusClass: statusClassOf(statusClass),
          environments: coveredNames(token.environments),
          routes: coveredNames(token.routes),
          segments: segmentsOf(keptFromMs, toMs, stepSeconds),
          stepSeconds,
        }),
      );
      const steps = stepSeconds === undefined ? [] : [...Map.groupBy(sums, ({ atMs }) => atMs)];
      return ok(
        statisticsSchema.parse({
          from: fromMs,
          to: toMs,
          total: sumsView(addedUp(sums)),
          steps: steps.map(([atMs, counted]) => ({ at: atMs, ...sumsView(addedUp(counted)) })),
          grpc_statuses: countGrpcStatuses(sums),
        }),
      );
    },
  });
  const readRoutes = endpoint({
    method: 'GET',
    path: '/v1/stats/routes',
    operationId: 'listRouteStatistics',
    tag: 'Requests',
    summary: 'Count requests by route',
    description:
      'Counts requests and errors, and estimates percentiles of their durations, for the routes with the most requests, ' +
      'errors or time. Requests to routes that do not exist are left out.',
    scope: 'requests:read',
    answers: 'one',
    data: routeStatisticsSchema,
    errors: ['gateway_overloaded'],
    query: routesQuery,
    async handle({ query: { from, to, environment, order, limit }, token, signal }) {
      const { fromMs, toMs, keptFromMs } = periodOf(from, to);
      const routes = await runRead(signal, () =>
        readRouteStatistics(db, {
          environment,
          order,
          limit,
          environments: coveredNames(token.environments),
          routes: coveredNames(token.routes),
          segments: segmentsOf(keptFromMs, toMs, undefined),
        }),
      );
      const shown = routes.map(({ environment: its, route, ...sums }) => ({
        environment: its,
        route,
        ...sumsView(sums),
      }));
      return ok(routeStatisticsSchema.parse({ from: fromMs, to: toMs, routes: shown }));
    },
  });
  return [read, readRoutes];
}
