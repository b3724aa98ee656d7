import type { Clock } from '@gateway/shared/clock';
import { timeOfId } from '@gateway/shared/ids';
import { z } from 'zod';
import {
  AUDIT_ACTIONS,
  auditEventView,
  auditEventViewSchema,
  oldestReadableEventMs,
  RESOURCE_TYPES,
} from '../domain/audit-event.ts';
import { choiceField, exampleId } from '../domain/fields.ts';
import { listAuditEvents } from '../store/configuration/audit-events.ts';
import type { Database } from '../store/database.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import {
  cutPage,
  decodeCursor,
  environmentFilter,
  idKey,
  listParameters,
  textParameter,
  periodParameters,
  refuseReversedPeriod,
} from '../http/list-query.ts';
import { page } from '../http/reply.ts';

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

export interface AuditEndpointParts {
  readonly db: Database;
  readonly clock: Clock;
}

/** `GET /v1/audit-events`: every change through the management API; see docs/adr/0012. */
export function auditEventEndpoints({ db, clock }: AuditEndpointParts): readonly Endpoint[] {
  const list = endpoint({
    method: 'GET',
    path: '/v1/audit-events',
    operationId: 'listAuditEvents',
    tag: 'Audit events',
    summary: 'List audit events',
    description:
      'Lists the changes that the token covers, newest first. Events are kept for 400 days. A page with a ' +
      '`next_cursor` may have fewer items than `limit` if changes are large.',
    scope: 'audit:read',
    answers: 'page',
    data: auditEventViewSchema,
    errors: [],
    query: listQuery,
    async handle({ token, query: { limit, cursor, since, until, ...filters } }) {
      refuseReversedPeriod(since, until);
      const afterId = cursor === undefined ? undefined : decodeCursor(LIST, idKey('aud'), cursor);
      const { rows, isCut } = await listAuditEvents(db, {
        ...filters,
        within: token,
        sinceMs: Math.max(since ?? 0, oldestReadableEventMs(clock.nowMs())),
        untilMs: until,
        after: afterId === undefined ? undefined : { id: afterId, occurredAtMs: timeOfId(afterId) },
        limit: limit + 1,
      });
      const cut = cutPage(rows, limit, LIST, (row) => row.id, isCut);
      return page(cut.rows.map(auditEventView), cut.nextCursor);
    },
  });
  return [list];
}
