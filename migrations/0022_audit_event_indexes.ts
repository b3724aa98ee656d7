import { sql, type Kysely } from 'kysely';

/**
 * Indexes for the filters of audit events, except for the environment: Postgres does not use an index of it. They are only
 * declared, which takes a moment. The control plane builds them partition by partition after its start, because a plain
 * build would block every change until all partitions are done.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE INDEX audit_events_by_request ON ONLY audit_events (request_id)
  `.execute(db);
  await sql`
    CREATE INDEX audit_events_by_action ON ONLY audit_events (action, occurred_at)
  `.execute(db);
  await sql`
    CREATE INDEX audit_events_by_type ON ONLY audit_events (resource_type, occurred_at)
  `.execute(db);
}
