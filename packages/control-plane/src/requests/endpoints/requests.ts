import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { isId, lowestId, timeOfId } from '@gateway/shared/ids';
import type { RequestRecord } from '@gateway/shared/records/record';
import type { TokenReach } from '@gateway/shared/tokens/scopes';
import { z } from 'zod';
import { coveredNames, reachFault, refuseAccess } from '../../access/access.ts';
import { oldestReadableMs, requestView, requestViewSchema } from '../request-record.ts';
import { isOwnVersion, readHistoryBegins } from '../../environments/store/former-environments.ts';
import type { Database } from '../../store/database.ts';
import { findRecord, listRecords, type RecordQuery } from '../store/records.ts';
import { readWithinTime } from '../../store/bounded-rows.ts';
import { awaitRecord } from './await-record.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import {
  cutPage,
  decodeCursor,
  encodeCursor,
  idKey,
  listParameters,
  periodParameters,
  refuseReversedPeriod,
} from '../../http/list-query.ts';
import { idParameter } from '../../http/path-parameters.ts';
import { requestFilters } from './request-filters.ts';
import { statusClassOf } from './status-class.ts';
import { searchByTime } from '../../http/time-search.ts';
import { ok, page } from '../../http/reply.ts';
import type { RunSearch } from '../../http/search-queue.ts';

const LIST = 'requests';

const listQuery = z.strictObject({
  ...listParameters,
  ...requestFilters,
  ...periodParameters,
});

export interface RequestEndpointDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** Shared with the other searches. */
  readonly runSearch: RunSearch;
}

/** `GET /v1/requests/{id}` and `GET /v1/requests`. */
export function requestEndpoints({
  db,
  clock,
  runSearch,
}: RequestEndpointDeps): readonly Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/requests/{id}',
      operationId: 'getRequest',
      tag: 'Requests',
      summary: 'Read the record of a request',
      description:
        'Returns the record of a proxied request. The id is in the header `X-Request-Id` of the response to it. The ' +
        'record of a request that just ended may arrive up to 2 seconds later; the call waits for it.',
      params: { id: idParameter('req', 'The id of the request.') },
      scope: 'requests:read',
      answers: 'one',
      data: requestViewSchema,
      errors: ['request_not_found'],
      async handle({ params, confirmToken, signal }) {
        const id = params['id'] ?? '';
        if (!isId('req', id)) throw requestNotFound();
        const receivedAtMs = timeOfId(id);
        if (receivedAtMs < oldestReadableMs(clock.nowMs())) throw requestNotFound();
        const find = () => findRecord(db, id, receivedAtMs);
        const record = await awaitRecord(find, receivedAtMs, clock, signal);
        if (record === undefined) throw requestNotFound();
        const shown = requestView(record);
        // The call may have waited for the record.
        await requireRecord(db, await confirmToken(), shown);
        return ok(shown);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/requests',
      operationId: 'listRequests',
      tag: 'Requests',
      summary: 'List request records',
      description:
        'Lists request records, newest first. A page with a `next_cursor` may have fewer items than `limit`, or ' +
        'none, if few requests match the filters or records are large. Continue with the cursor.',
      scope: 'requests:read',
      query: listQuery,
      answers: 'page',
      data: requestViewSchema,
      errors: ['gateway_overloaded'],
      async handle({ query, token, confirmToken, signal }) {
        const { limit, cursor, since, until, status_class: statusClass, ...filters } = query;
        refuseReversedPeriod(since, until);
        const afterId = cursor === undefined ? undefined : decodeCursor(LIST, idKey('req'), cursor);
        const list = (part: RecordQuery, timeoutMs: number) =>
          readWithinTime(db, timeoutMs, (transaction) => listRecords(transaction, part));
        const wanted = {
          ...filters,
          statusClass: statusClassOf(statusClass),
          environments: coveredNames(token.environments),
          routes: coveredNames(token.routes),
          sinceMs: Math.max(since ?? 0, oldestReadableMs(clock.nowMs())),
          untilMs: until,
          after: afterId === undefined ? undefined : { id: afterId, atMs: timeOfId(afterId) },
          limit: limit + 1,
        };
        const search = async () => {
          // The search may have waited for others.
          await confirmToken();
          return searchByTime(list, clock, wanted);
        };
        const { rows, searchedToMs, isCut } = await runSearch(signal, search);
        const { rows: shown, nextCursor } = cutPage(rows, limit, LIST, (row) => row.id, isCut);
        const searchedTo =
          searchedToMs === undefined ? null : encodeCursor(LIST, lowestId('req', searchedToMs));
        return page(shown.map(requestView), nextCursor ?? searchedTo);
      },
    }),
  ];
}

function requestNotFound(): GatewayError {
  return new GatewayError(
    'request_not_found',
    'No request has this id, or it is older than 30 days.',
  );
}

/**
 * A record without an environment or a route, of a request that was refused early, needs a token for all of them. So does
 * one of a deleted environment.
 */
async function requireRecord(
  db: Database,
  token: TokenReach,
  record: Pick<RequestRecord, 'environment' | 'route' | 'config_version'>,
): Promise<void> {
  const { environment, route, config_version: version } = record;
  const subject = { environment: environment ?? '*', route: route ?? '*' };
  const isCovered = reachFault(token, subject) === undefined;
  const begins = isCovered ? await readHistoryBegins(db, coveredNames(token.environments)) : [];
  if (!isCovered || !isOwnVersion(begins, environment, version)) {
    throw refuseAccess('The token does not cover this request.');
  }
}
