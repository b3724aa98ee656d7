import type { Clock } from '@gateway/shared/clock';
import { coveredNames } from '../../access/access.ts';
import { routeStatisticsSchema } from '../route-statistics.ts';
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
import { ok } from '../../http/reply.ts';
import { statusClassOf } from '../../requests/endpoints/status-class.ts';
import { createSearchQueue } from '../../http/search-queue.ts';
import type { Database } from '../../store/database.ts';
import { readRouteStatistics } from '../store/read-route-statistics.ts';
import { MAX_ROUTE_STEPS, routeStatisticsQuery, statisticsQuery } from './statistics-parameters.ts';
import { readStatistics } from '../store/read-statistics.ts';
import { groupsView, stepsView } from '../statistics-groups.ts';

/** The other connections of the pool are for the other calls and for the ingest of records. */
const MAX_READS = 4;
/** The length of a step, s. @throws GatewayError invalid_request if the period has too many */
function stepOf(step: StepName | undefined, periodMs: number): number | undefined {
  if (step === undefined) return undefined;
  if (stepsIn(periodMs, STEPS[step]) > MAX_STEPS) {
    throw invalidField('step', `must divide the period into at most ${MAX_STEPS} steps`);
  }
  return STEPS[step];
}

const stepsIn = (periodMs: number, stepSeconds: number) => periodMs / (stepSeconds * 1000);

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
    query: statisticsQuery,
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
      const stepSeconds = stepOf(step, toMs - fromMs);
      if (given.by === 'version' && given.route === undefined) {
        throw invalidField('route', 'is required with by version');
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
      const hasSteps = stepSeconds !== undefined;
      return ok(
        statisticsSchema.parse({
          from: fromMs,
          to: toMs,
          total: sumsView(addedUp(sums)),
          steps: hasSteps ? stepsView(sums) : [],
          grpc_statuses: countGrpcStatuses(sums),
          groups: given.by === undefined ? [] : groupsView(sums, given.by, hasSteps),
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
    query: routeStatisticsQuery,
    async handle({ query: { from, to, environment, names, step, order, limit }, token, signal }) {
      const { fromMs, toMs, keptFromMs } = periodOf(from, to);
      const stepSeconds = stepOf(step, toMs - fromMs);
      if (
        stepSeconds !== undefined &&
        stepsIn(toMs - fromMs, stepSeconds) * limit > MAX_ROUTE_STEPS
      ) {
        throw invalidField('limit', `times the steps must be at most ${MAX_ROUTE_STEPS}`);
      }
      const routes = await runRead(signal, () =>
        readRouteStatistics(db, {
          environment,
          named: names,
          stepSeconds,
          order,
          limit,
          environments: coveredNames(token.environments),
          routes: coveredNames(token.routes),
          segments: segmentsOf(keptFromMs, toMs, stepSeconds),
        }),
      );
      const shown = routes.map(({ environment: its, route, rejected, steps, ...sums }) => ({
        environment: its,
        route,
        ...sumsView(sums),
        rejected,
        steps: steps.map(({ atMs, ...counts }) => ({ at: atMs, ...counts })),
      }));
      return ok(routeStatisticsSchema.parse({ from: fromMs, to: toMs, routes: shown }));
    },
  });
  return [read, readRoutes];
}
