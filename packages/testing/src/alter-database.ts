import pg from 'pg';

/** Runs one statement on the database directly, without the control plane. */
export async function alterDatabase(
  url: string,
  statement: string,
  values: readonly string[],
): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'alter-database' });
  await client.connect();
  try {
    await client.query(statement, [...values]);
  } finally {
    await client.end();
  }
}
