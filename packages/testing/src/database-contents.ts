import pg from 'pg';

/** Every row of every table as text, after a checkpoint has written all data to the server's files. */
export async function databaseContents(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, application_name: 'database-contents' });
  await client.connect();
  try {
    await client.query('checkpoint');
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(
        `select t::text as text from ${name} t`,
      );
      texts.push(name, ...rows.map(({ text }) => text));
    }
    return texts.join('\n');
  } finally {
    await client.end();
  }
}
