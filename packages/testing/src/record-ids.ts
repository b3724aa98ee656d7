import pg from 'pg';

/** The ids of all stored request records. A record that is stored twice is in the list twice. */
export async function recordIds(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'record-ids' });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string }>('select id from request_records');
    return rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}
