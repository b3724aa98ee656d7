import type { Clock } from '@gateway/shared/clock';
import { lowestId, timeOfId } from '@gateway/shared/ids';
import { z } from 'zod';
import {
  AUDIT_ACTIONS,
  auditEventView,
  auditEventViewSchema,
  oldestReadableEventMs,
  RESOURCE_TYPES,
} from '../audit-event.ts';
import { choiceField, exampleId } from '@gateway/shared/definitions/fields';
import { listAuditEvents, type AuditQuery } from '../store/audit-events.ts';
import { readWithinTime } from '../../store/bounded-rows.ts';
import type { Database } from '../../store/database.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import {
  cutPage,
  decodeCursor,
  encodeCursor,
  environmentFilter,
  idKey,
  idsParameter,
  listParameters,
  textParameter,
  periodParameters,
  refuseReversedPeriod,
} from '../../http/list-query.ts';
import { page } from '../../http/reply.ts';
import type { RunSearch } from '../../http/search-queue.ts';
import { searchByTime } from '../../http/time-search.ts';

const LIST = 'audit-events';

const idParameter = textParameter().regex(/^[^\0]{0,64}$/, {
  error: 'must be at most 64 characters without NUL',
});

const listQuery = z.strictObject({
  ...listParameters,
  environment: environmentFilter,
  resource_type: choiceField(RESOURCE_TYPES)
    .optional()
    .meta({
      description: 'Only changes of this kind of resource.',
      examples: ['route'],
    }),
  resource_id: idParameter.optional().meta({
    description: 'Only changes of this resource: its id; of an environment, its name.',
    examples: [exampleId('rte')],
  }),
  resource_ids: idsParameter(
    (id) => id !== '' && !id.includes('\0'),
    'Only changes of the resources of these ids',
    exampleId('tok'),
  ),
  action: choiceField(AUDIT_ACTIONS)
    .optional()
    .meta({
      description: 'Only changes of this kind.',
      examples: ['route.updated'],
    }),
  token_id: idParameter.optional().meta({
    description: 'Only changes that this token made.',
    examples: [exampleId('tok')],
  }),
  request_id: idParameter.optional().meta({
    description: 'Only changes of this call.',
    examples: [exampleId('req')],
  }),
  ...periodParameters,
});

export interface AuditEndpointDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** Shared with the other searches. */
  readonly runSearch: RunSearch;
}

/** `GET /v1/audit-events`: every change through the management API; see docs/adr/0012. */
export function auditEventEndpoints({
  db,
  clock,
  runSearch,
}: AuditEndpointDeps): readonly Endpoint[] {
  const list = endpoint({
    method: 'GET',
    path: '/v1/audit-events',
    operationId: 'listAuditEvents',
    tag: 'Audit events',
    summary: 'List audit events',
    description:
      'Lists the changes that the token covers, newest first. Events are kept for 400 days. A page with a ' +
      '`next_cursor` may have fewer items than `limit`, or none, if few events match the filters or changes are large. ' +
      'Continue with the cursor.',
    scope: 'audit:read',
    answers: 'page',
    data: auditEventViewSchema,
    errors: ['gateway_overloaded'],
    query: listQuery,
    async handle({ token, confirmToken, signal, query }) {
      const { limit, cursor, since, until, ...filters } = query;
      refuseReversedPeriod(since, until);
      if (filters.resource_ids?.length === 0) return page([], null);
      const afterId = cursor === undefined ? undefined : decodeCursor(LIST, idKey('aud'), cursor);
      const wanted: AuditQuery = {
        ...filters,
        within: token,
        sinceMs: Math.max(since ?? 0, oldestReadableEventMs(clock.nowMs())),
        untilMs: until,
        after: afterId === undefined ? undefined : { id: afterId, atMs: timeOfId(afterId) },
        limit: limit + 1,
      };
      const listWithin = (part: AuditQuery, timeoutMs: number) =>
        readWithinTime(db, timeoutMs, (transaction) => listAuditEvents(transaction, part));
      const { rows, searchedToMs, isCut } = await runSearch(signal, async () => {
        // The search may have waited for others.
        await confirmToken();
        return searchByTime(listWithin, clock, wanted);
      });
      const cut = cutPage(rows, limit, LIST, (row) => row.id, isCut);
      const searchedTo =
        searchedToMs === undefined ? null : encodeCursor(LIST, lowestId('aud', searchedToMs));
      return page(cut.rows.map(auditEventView), cut.nextCursor ?? searchedTo);
    },
  });
  return [list];
}
