import { sql, type Kysely } from 'kysely';

/** One column for each bucket of durations; `duration-histogram.ts` in the control plane has their bounds. */
const BUCKETS = 84;

/**
 * Sums of request records by minute and by longer periods up to a day (UTC), written with the records themselves. A day
 * has few rows, so the sums of a month are read fast however many records there are.
 *
 * `statistics_series` has what records are counted by; its id is a hash of the other columns. Buckets without a request
 * are NULL, which takes no room in a row and costs next to nothing in a sum. They are float8, because Postgres adds these
 * several times as fast as bigint; whole numbers are exact up to 2^53.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE statistics_series (
      id bigint PRIMARY KEY,
      environment text COLLATE "C",
      route text COLLATE "C",
      version text COLLATE "C",
      service_id text COLLATE "C",
      status_class smallint,
      outcome text COLLATE "C" NOT NULL
    )
  `.execute(db);
  const buckets = Array.from({ length: BUCKETS }, (_, index) => sql.raw(`d${index} float8`));
  await sql`
    CREATE TABLE request_statistics (
      bucket_at timestamptz NOT NULL,
      resolution integer NOT NULL,
      series bigint NOT NULL,
      requests bigint NOT NULL,
      ${sql.join(buckets)},
      PRIMARY KEY (resolution, series, bucket_at)
    ) PARTITION BY RANGE (bucket_at)
  `.execute(db);
  await sql`
    CREATE TABLE request_statistics_default PARTITION OF request_statistics DEFAULT
  `.execute(db);
}
