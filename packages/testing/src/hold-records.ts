import pg from 'pg';

/** A lock on the table of request records: inserts wait until it is released. */
export interface HeldRecords {
  /** The number of inserts that wait. */
  waiting(): Promise<number>;
  letGo(): Promise<void>;
}

/**
 * Locks the table of request records from now on. By default inserts wait and reads still work; with `access share`, the lock of a
 * dump, only changes of the partitions wait.
 */
export async function holdRecords(
  url: string,
  mode: 'exclusive' | 'access share' = 'exclusive',
): Promise<HeldRecords> {
  const client = new pg.Client({ connectionString: url, application_name: 'hold-records' });
  await client.connect();
  await client.query('begin');
  await client.query(`lock table request_records in ${mode} mode`);
  return {
    async waiting() {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::int as count from pg_locks
         where relation = 'request_records'::regclass and not granted`,
      );
      return rows[0]?.count ?? 0;
    },
    async letGo() {
      await client.query('commit');
      await client.end();
    },
  };
}
