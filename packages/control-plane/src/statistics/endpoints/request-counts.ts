import type { Clock } from '@gateway/shared/clock';
import { z } from 'zod';
import { choiceField } from '@gateway/shared/definitions/fields';
import type { TokenReach } from '@gateway/shared/tokens/scopes';
import { coveredNames } from '../../access/access.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { invalidField } from '../../http/input.ts';
import { listParameters, timeParameter } from '../../http/list-query.ts';
import { ok } from '../../http/reply.ts';
import type { RunSearch } from '../../http/search-queue.ts';
import { countByTime } from '../../requests/count-by-time.ts';
import { requestFilters } from '../../requests/endpoints/request-filters.ts';
import { statusClassOf } from '../../requests/endpoints/status-class.ts';
import { oldestReadableMs } from '../../requests/request-record.ts';
import { countRecords } from '../../requests/store/count-records.ts';
import { RECORD_VALUES, type RecordValue } from '../../requests/store/record-conditions.ts';
import { readWithinTime } from '../../store/bounded-rows.ts';
import type { Database } from '../../store/database.ts';
import {
  MAX_COUNTED,
  requestCountsSchema,
  requestCountsView,
  stepSecondsFor,
} from '../request-counts.ts';
import { bucketStart, segmentsOf } from '../statistics-segments.ts';
import { countSeries, SERIES_VALUES, type SeriesValue } from '../store/count-series.ts';

const MINUTE_S = 60;
const MINUTE_MS = MINUTE_S * 1000;
/** A shorter period would have too few minutes for a picture, and has fewer records. */
const LEAST_SERIES_MS = 10 * MINUTE_MS;
const DEFAULT_PERIOD_MS = 60 * MINUTE_MS;
const VALUES = Object.keys(RECORD_VALUES) as [RecordValue, ...RecordValue[]];

const query = z.strictObject({
  ...requestFilters,
  from: timeParameter.optional().meta({
    description: 'The begin of the period. Default: an hour before `to`.',
    examples: ['2026-03-01T09:00:00Z'],
  }),
  to: timeParameter.optional().meta({
    description: 'The end of the period. Default: now.',
    examples: ['2026-03-01T10:00:00Z'],
  }),
  by: choiceField(VALUES)
    .optional()
    .meta({
      description: 'Also counts the requests by this value. Default: by none.',
      examples: ['route'],
    }),
  limit: listParameters.limit,
});

type Query = z.output<typeof query>;

export interface RequestCountDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** Shared with the other searches. */
  readonly runSearch: RunSearch;
}

/** `GET /v1/stats/requests`: how many requests match the filters of the list, by time, status and one value. */
export function requestCountsEndpoint({ db, clock, runSearch }: RequestCountDeps): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/stats/requests',
    operationId: 'countRequests',
    tag: 'Requests',
    summary: 'Count the requests that match',
    description:
      'Counts the requests that the filters of `GET /v1/requests` leave, by time, by the class of their status, and by one ' +
      `value. With a filter or a value that the statistics do not have, or for a period below ten minutes, it counts records: the newest ${MAX_COUNTED}, ` +
      'and as many as can be counted in about three seconds. `counted_from` says how far that reaches. Else it counts all ' +
      'requests of whole minutes.',
    scope: 'requests:read',
    answers: 'one',
    data: requestCountsSchema,
    errors: ['gateway_overloaded'],
    query,
    async handle({ query: given, token, confirmToken, signal }) {
      const nowMs = clock.nowMs();
      const toMs = given.to ?? nowMs;
      const fromMs = given.from ?? toMs - DEFAULT_PERIOD_MS;
      if (fromMs >= toMs) throw invalidField('from', 'must be before to');
      const period = { fromMs, toMs, keptFromMs: Math.max(fromMs, oldestReadableMs(nowMs)) };
      const by = seriesValueOf(given, toMs - fromMs);
      const stepSeconds = Math.max(stepSecondsFor(toMs - fromMs), by === 'records' ? 1 : MINUTE_S);
      const count = async () => {
        // The search may have waited for others.
        await confirmToken();
        return by === 'records'
          ? countOfRecords({ db, clock }, given, token, period, stepSeconds)
          : countOfSeries(db, given, token, period, stepSeconds, by);
      };
      const counted = await runSearch(signal, count);
      return ok(requestCountsView({ fromMs, toMs, stepSeconds, limit: given.limit, ...counted }));
    },
  });
}

interface Period {
  readonly fromMs: number;
  readonly toMs: number;
  /** The begin of what is kept of it. */
  readonly keptFromMs: number;
}

/**
 * The value by which the statistics count what was asked for; `records`: they lack a filter or the value, or the period has
 * few of their minutes.
 */
function seriesValueOf(given: Query, periodMs: number): SeriesValue | undefined | 'records' {
  const { by, kind, status, token_id, method, error_code, upstream, min_duration_ms } = given;
  const others = [status, token_id, method, error_code, upstream, min_duration_ms];
  if (kind !== 'request' || periodMs < LEAST_SERIES_MS) return 'records';
  if (others.some((one) => one !== undefined)) return 'records';
  if (by === undefined) return undefined;
  return by in SERIES_VALUES ? (by as SeriesValue) : 'records';
}

async function countOfSeries(
  db: Database,
  given: Query,
  token: TokenReach,
  { toMs, keptFromMs }: Period,
  stepSeconds: number,
  by: SeriesValue | undefined,
) {
  const {
    environment,
    route,
    outcome,
    failed,
    status_class: statusClass,
    grpc_status: grpcStatus,
  } = given;
  const firstMs = bucketStart(keptFromMs, MINUTE_S);
  const endMs = Math.ceil(toMs / MINUTE_MS) * MINUTE_MS;
  const counted = await countSeries(db, {
    environment,
    route,
    outcome,
    failed,
    grpcStatus,
    statusClass: statusClassOf(statusClass),
    environments: coveredNames(token.environments),
    routes: coveredNames(token.routes),
    segments: segmentsOf(firstMs, endMs, stepSeconds),
    stepSeconds,
    by,
  });
  return { ...counted, countedFromMs: keptFromMs };
}

async function countOfRecords(
  { db, clock }: Pick<RequestCountDeps, 'db' | 'clock'>,
  given: Query,
  token: TokenReach,
  { toMs, keptFromMs }: Period,
  stepSeconds: number,
) {
  const { status_class: statusClass, by, from: _from, to: _to, limit: _limit, ...filters } = given;
  const wanted = {
    ...filters,
    statusClass: statusClassOf(statusClass),
    environments: coveredNames(token.environments),
    routes: coveredNames(token.routes),
    stepSeconds,
    by,
  };
  const period = { sinceMs: keptFromMs, untilMs: toMs, maxRecords: MAX_COUNTED };
  const { counts, countedFromMs } = await countByTime(
    (part, timeoutMs) =>
      readWithinTime(db, timeoutMs, (transaction) =>
        countRecords(transaction, { ...wanted, ...part }),
      ),
    clock,
    period,
  );
  return {
    steps: counts.flatMap(({ steps }) => steps),
    values: counts.flatMap(({ values }) => values),
    countedFromMs,
  };
}
