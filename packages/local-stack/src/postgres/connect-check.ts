import pg from 'pg';
import { errorMessage, StartError } from '@gateway/tools/process/errors';

/** SQLSTATE 57P0x: the server starts, recovers or stops; 53300: too many connections. Both are temporary. */
const TEMPORARY = /^(57P0.|53300)$/;
/** After this many crashes during a connection attempt, the data is assumed to be damaged. */
const MAX_CRASHES = 3;

/**
 * A readiness check for Postgres: a connection and a query. It rejects while Postgres is starting. It rejects with a
 * StartError if Postgres will not become ready: it refuses the connection (its data is damaged, or the password is
 * wrong) or crashes every time.
 */
export function createConnectCheck(url: string): () => Promise<boolean> {
  let crashes = 0;
  return async () => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select 1');
      return true;
    } catch (error) {
      if (error instanceof pg.DatabaseError) {
        if (TEMPORARY.test(error.code ?? '')) throw error;
        throw new StartError(`Postgres refuses connections: ${error.message}`, { cause: error });
      }
      if (errorMessage(error).startsWith('Connection terminated')) crashes += 1;
      if (crashes < MAX_CRASHES) throw error;
      throw new StartError('Postgres crashes on each connection; its data may be damaged', {
        cause: error,
      });
    } finally {
      await client.end();
    }
  };
}
