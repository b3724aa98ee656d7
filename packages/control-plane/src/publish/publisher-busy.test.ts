import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import pg from 'pg';
import { LOCK_CLASS } from '../store/locks.ts';
import { addRoute } from '../../test/configuration.ts';
import { openTestPublishing, type TestPublishing } from '../../test/publishing.ts';
import type { SnapshotStore } from './snapshot-store.ts';

let publishing: TestPublishing;
let other: pg.Client;
beforeEach(async () => {
  publishing = await openTestPublishing();
  other = new pg.Client({ connectionString: publishing.store.url });
  await other.connect();
});
afterEach(async () => {
  await other.end();
  await publishing.close();
});

/** Resolves when the publisher has tried to take a lock since that time of the database. */
async function askedForLock(since: Date): Promise<void> {
  await eventually(async () => {
    const { rows } = await other.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database()
        AND application_name = 'gateway-publisher' AND state = 'idle'
        AND query LIKE '%pg_try_advisory_lock%' AND query_start > $1`,
      [since],
    );
    if (rows.length === 0) throw new Error('the publisher has not tried to take a lock');
  });
}

describe('a publication lock that another session holds', () => {
  it('delays the publication until the holder leaves without having published', async () => {
    let failures = 0;
    let accepts = true;
    const wrap = (store: SnapshotStore): SnapshotStore => ({
      ...store,
      appendEntry(...entry) {
        if (accepts) return store.appendEntry(...entry);
        failures += 1;
        return Promise.reject(new Error('the entry is refused'));
      },
    });
    await publishing.startPublisher({ wrap });
    await publishing.settled();
    accepts = false;
    await addRoute(publishing.store.db, publishing.environment, 'a');
    await eventually(() => expect(failures).toBeGreaterThan(1));
    const lock = [LOCK_CLASS.publication, publishing.environment];
    await other.query('SELECT pg_advisory_lock($1, hashtext($2))', lock);
    const { rows } = await other.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    accepts = true;
    await askedForLock(rows[0]?.now ?? new Date());
    await other.query('SELECT pg_advisory_unlock($1, hashtext($2))', lock);
    await publishing.settled();
  });
});
