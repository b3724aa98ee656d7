import { createEmptyDatabase } from '@gateway/testing/test-database';
import { eventually } from '@gateway/shared/test/eventually';
import { UndoList } from '@gateway/shared/test/undo-list';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { withClient } from './with-client.ts';

const SLEEP = 'SELECT pg_sleep(600)';

describe('withClient', () => {
  const undo = new UndoList();
  let url = '';
  beforeAll(async () => {
    const database = await createEmptyDatabase();
    undo.add(() => database.drop());
    ({ url } = database);
  });
  afterAll(() => undo.run());

  const sleep = (client: pg.Client) => client.query(SLEEP);

  it('returns what the work returns', async () => {
    const { signal } = new AbortController();
    const work = (client: pg.Client) => client.query<{ one: number }>('SELECT 1 AS one');
    expect((await withClient(url, { signal }, work)).rows).toEqual([{ one: 1 }]);
  });

  it('ends a query that runs when the signal is aborted', async () => {
    const run = new AbortController();
    const sleeping = withClient(url, run, sleep);
    const { signal } = new AbortController();
    await withClient(url, { signal }, async (client) => {
      const pid = await eventually(async () => {
        const { rows } = await client.query<{ pid: number }>(
          `SELECT pid FROM pg_stat_activity
           WHERE datname = current_database() AND query = $1 AND state = 'active'`,
          [SLEEP],
        );
        expect(rows).toHaveLength(1);
        return rows[0]?.pid;
      });
      run.abort();
      await expect(sleeping).rejects.toThrow('terminated');
      // The server does not notice that nobody waits for the result.
      await client.query('SELECT pg_terminate_backend($1)', [pid]);
    });
  });

  it('does no work if the signal is aborted already', async () => {
    const signal = AbortSignal.abort(new Error('over'));
    await expect(withClient(url, { signal }, sleep)).rejects.toThrow('over');
  });
});
