import pg from 'pg';
import type { Run } from './run.ts';

/** Works with a connection to Postgres. When the run is aborted, the query that runs fails, and so do later ones. */
export async function withClient<T>(
  url: string,
  { signal }: Pick<Run, 'signal'>,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  // If Postgres ends the connection, the query fails; without this, the process would end before it cleans up.
  client.on('error', () => undefined);
  await client.connect();
  const end = () => void client.end();
  try {
    signal.throwIfAborted();
    signal.addEventListener('abort', end);
    return await work(client);
  } finally {
    signal.removeEventListener('abort', end);
    await client.end();
  }
}
