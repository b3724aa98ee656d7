import { choiceField, exampleId } from '@gateway/shared/definitions/fields';
import { z } from 'zod';
import { coveredNames } from '../../access/access.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { invalidField } from '../../http/input.ts';
import {
  environmentFilter,
  listParameters,
  textParameter,
  timeParameter,
} from '../../http/list-query.ts';
import { ok } from '../../http/reply.ts';
import { createSearchQueue } from '../../http/search-queue.ts';
import { readWithinTime } from '../../store/bounded-rows.ts';
import { isStatementTimeout } from '../../store/failures.ts';
import {
  CALLER_ORDERS,
  callerStatisticsSchema,
  MAX_COUNTED_RECORDS,
} from '../caller-statistics.ts';
import { statisticsPeriod } from '../statistics-period.ts';
import {
  readCallerStatistics,
  type CallerStatisticsQuery,
  type CallerSums,
  type CountedCallers,
} from '../../requests/store/read-caller-statistics.ts';
import type { StatisticsDeps } from './statistics.ts';

/** It reads records, so fewer run at a time than reads of sums. */
const MAX_READS = 2;
/** How much of the end of a period is counted if the whole takes Postgres too long, ms. */
const SHORTER_PERIODS_MS = [10 * 60_000, 60_000];
const TIMEOUT_MS = 1000;

const name = (what: string, example: string) =>
  textParameter()
    .regex(/^[^\0]{1,255}$/, { error: 'must be 1 to 255 characters without NUL' })
    .optional()
    .meta({ description: `Only requests ${what}.`, examples: [example] });

const query = z.strictObject({
  from: timeParameter.optional().meta({
    description: 'The begin of the period, rounded down to a minute. Default: an hour before `to`.',
    examples: ['2026-03-01T09:00:00Z'],
  }),
  to: timeParameter.optional().meta({
    description: 'The end of the period, rounded up to a minute. Default: now.',
    examples: ['2026-03-01T10:00:00Z'],
  }),
  environment: environmentFilter,
  route: name('to the route of this name', 'charges'),
  token_id: name('with the token of this id', exampleId('tok')),
  order: choiceField(CALLER_ORDERS)
    .default('requests')
    .meta({
      description:
        'Which callers come first: those with the most of this. `quota_used`: those that are nearest to 429.',
      examples: ['quota_used'],
    }),
  limit: listParameters.limit,
});

/** `GET /v1/stats/callers`: who sends requests, whose fail, and who is near a quota. */
export function callerStatisticsEndpoints({ db, clock }: StatisticsDeps): readonly Endpoint[] {
  const runRead = createSearchQueue(MAX_READS, clock);

  /** Counts the whole period, or a part of its end if that takes too long. */
  async function count(
    wanted: CallerStatisticsQuery,
  ): Promise<CountedCallers & { fromMs: number }> {
    const begins = [
      wanted.fromMs,
      ...SHORTER_PERIODS_MS.map((ms) => Math.max(wanted.fromMs, wanted.toMs - ms)),
    ];
    for (const [index, fromMs] of begins.entries()) {
      try {
        const part = { ...wanted, fromMs };
        const counted = await readWithinTime(db, TIMEOUT_MS, (transaction) =>
          readCallerStatistics(transaction, part),
        );
        const isCut = counted.requests >= wanted.maxRecords;
        return { ...counted, fromMs: isCut ? (counted.oldestMs ?? fromMs) : fromMs };
      } catch (error) {
        if (!isStatementTimeout(error) || index === begins.length - 1) throw error;
      }
    }
    throw new Error('there is no period to count');
  }

  const read = endpoint({
    method: 'GET',
    path: '/v1/stats/callers',
    operationId: 'listCallerStatistics',
    tag: 'Requests',
    summary: 'Count requests by caller',
    description:
      'Counts requests, failures and refusals by caller, and shows how far each caller used a quota. It reads the newest ' +
      `${MAX_COUNTED_RECORDS} request records of the period that the token covers; \`counted_from\` says how far back that is. ` +
      'Callers without a token and without a JWT are one caller.',
    scope: 'requests:read',
    answers: 'one',
    data: callerStatisticsSchema,
    errors: ['gateway_overloaded'],
    query,
    async handle({ query: { from, to, ...filters }, token, signal }) {
      const period = statisticsPeriod(from, to, clock.nowMs());
      if (period === undefined) throw invalidField('from', 'must be before to');
      const wanted = {
        ...filters,
        fromMs: period.keptFromMs,
        toMs: period.toMs,
        environments: coveredNames(token.environments),
        routes: coveredNames(token.routes),
        maxRecords: MAX_COUNTED_RECORDS,
      };
      const { callers, requests, fromMs } = await runRead(signal, () => count(wanted));
      return ok(
        callerStatisticsSchema.parse({
          from: period.fromMs,
          to: period.toMs,
          counted_from: fromMs,
          requests,
          callers: callers.map(callerView),
        }),
      );
    },
  });
  return [read];
}

function callerView({ tokenId, subject, requests, errors, rateLimited, ...caller }: CallerSums) {
  const { p95Ms, lastMs, quota } = caller;
  return {
    token_id: tokenId,
    subject,
    requests,
    errors,
    rate_limited: rateLimited,
    p95_ms: Math.round(p95Ms * 100) / 100,
    last_at: lastMs,
    quota: quota && {
      environment: quota.environment,
      route: quota.route,
      limit: quota.limit,
      remaining: quota.remaining,
      used: Math.round((1 - quota.remaining / quota.limit) * 1000) / 1000,
      at: quota.atMs,
    },
  };
}
