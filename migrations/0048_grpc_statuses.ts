import { sql, type Kysely } from 'kysely';

/**
 * The gRPC status with which a request ended, of records and of what they are counted by. NULL: it was no gRPC call, or no
 * status came. A release without the columns stores that.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE request_records ADD COLUMN grpc_status smallint`.execute(db);
  await sql`ALTER TABLE statistics_series ADD COLUMN grpc_status smallint`.execute(db);
}
