import { sql, type RawBuilder } from 'kysely';
import type { TokenReach } from '@gateway/shared/tokens/scopes';
import { coveredNames } from '../../access/access.ts';
import type { AuditRow } from '../audit-event.ts';
import {
  MAX_PAGE_BYTES,
  readWithinBytes,
  type BoundedRows,
  type TimeRange,
} from '../../store/bounded-rows.ts';
import type { Database } from '../../store/database.ts';
import {
  ownHistory,
  readHistoryBegins,
  type HistoryBegin,
} from '../../environments/store/former-environments.ts';

export interface AuditQuery extends TimeRange {
  /** Only events of resources that this token covers. */
  readonly within: TokenReach;
  readonly environment?: string | undefined;
  readonly resource_type?: string | undefined;
  readonly resource_id?: string | undefined;
  readonly resource_ids?: readonly string[] | undefined;
  readonly action?: string | undefined;
  readonly token_id?: string | undefined;
  readonly request_id?: string | undefined;
}

const EQUALS = ['resource_type', 'resource_id', 'action', 'token_id', 'request_id'] as const;

/**
 * The audit events that match every filter, newest first; equal times are ordered by id. Those of a deleted environment
 * are left out unless the token covers all environments.
 */
export async function listAuditEvents(
  db: Database,
  query: AuditQuery,
): Promise<BoundedRows<AuditRow>> {
  const { within, environment, resource_ids, sinceMs, untilMs, after } = query;
  const conditions: RawBuilder<unknown>[] = [sql`occurred_at >= ${new Date(sinceMs)}`];
  for (const column of ['environments', 'routes'] as const) {
    const names = within[column];
    if (!names.includes('*')) conditions.push(sql`${sql.ref(column)} <@ ${names}::text[]`);
  }
  const begins = await readHistoryBegins(db, coveredNames(within.environments));
  conditions.push(...ownHistory(begins, (name) => sql`${name} = ANY(environments)`, isOwnEvent));
  for (const column of EQUALS) {
    const value = query[column];
    if (value !== undefined) conditions.push(sql`${sql.ref(column)} = ${value}`);
  }
  if (resource_ids !== undefined) conditions.push(sql`resource_id = ANY(${resource_ids}::text[])`);
  // An event of all environments concerns this one too.
  if (environment !== undefined) {
    conditions.push(sql`environments && ${[environment, '*']}::text[]`);
  }
  if (untilMs !== undefined) conditions.push(sql`occurred_at < ${new Date(untilMs)}`);
  if (after !== undefined) {
    const time = new Date(after.atMs);
    // The first condition is implied by the second; it lets Postgres skip whole partitions.
    conditions.push(
      sql`occurred_at <= ${time}`,
      sql`(occurred_at, id) < (${time}::timestamptz, ${after.id})`,
    );
  }
  const select = sql`
    SELECT id, (extract(epoch FROM occurred_at) * 1000)::float8 AS "occurredAtMs",
      action, resource_type, resource_id, environments, token_id, client_ip, request_id,
      before, after
    FROM audit_events
    WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY occurred_at DESC, id DESC LIMIT ${query.limit}
  `;
  return readWithinBytes(db, select, {
    order: sql`"occurredAtMs" DESC, id DESC`,
    bytes: sql`coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0)`,
    maxBytes: query.maxBytes ?? MAX_PAGE_BYTES,
  });
}

function isOwnEvent({ firstChange, unplacedFrom }: HistoryBegin): RawBuilder<unknown> {
  const isPlaced = sql`change_id >= ${firstChange}::bigint`;
  if (unplacedFrom === undefined) return isPlaced;
  return sql`coalesce(${isPlaced}, occurred_at >= ${unplacedFrom})`;
}
