import pg from 'pg';
import { errorMessage } from '../process/error-code.ts';
import { StartError } from '../process/start-error.ts';

/** SQLSTATE class 57P0: it starts, recovers or stops; 53300: no place is free. Both pass with time. */
const PASSING = /^(57P0.|53300)$/;
/** A server that crashes as often as this when it is asked does so because of its data. */
const MAX_CRASHES = 3;

/**
 * A check whether Postgres serves: a real connection and a query. It rejects while Postgres is on its
 * way, and with a StartError once it is plain that it will not serve: it refuses, as where its data
 * are damaged or the password is another one, or crashes each time.
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
        if (PASSING.test(error.code ?? '')) throw error;
        throw new StartError(`it does not serve its data: ${error.message}`, { cause: error });
      }
      if (errorMessage(error).startsWith('Connection terminated')) crashes += 1;
      if (crashes < MAX_CRASHES) throw error;
      throw new StartError('it crashes on its data', { cause: error });
    } finally {
      await client.end();
    }
  };
}
