import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { sql } from 'kysely';
import pg from 'pg';
import { openTestStore, type TestStore } from '../../test/store.ts';
import { openDatabase, type Database, type OpenDatabase } from '../store/database.ts';
import { toGatewayError } from './to-gateway-error.ts';

const TOO_SLOW = 'The database took too long.';
const UNREACHABLE = 'The database cannot be reached.';

async function errorOf(failing: Promise<unknown>): Promise<unknown> {
  return failing.then(
    () => expect('no error').toBe('an error'),
    (error: unknown) => error,
  );
}

describe('the error of a call that Postgres fails', () => {
  let store: TestStore;
  let one: OpenDatabase;
  beforeAll(async () => {
    store = await openTestStore();
    const log = createLogger('test', 'silent');
    one = openDatabase({ url: store.url, log, maxConnections: 1 });
    await sql`CREATE TABLE held (id int PRIMARY KEY)`.execute(store.db);
    await sql`INSERT INTO held VALUES (1), (2)`.execute(store.db);
  });
  afterAll(async () => {
    await one.close();
    await store.close();
  });

  const lock = (db: Database, id: number) =>
    sql`SELECT FROM held WHERE id = ${id} FOR UPDATE`.execute(db);

  /** Two transactions that need what the other has; Postgres ends one of them. */
  async function deadlock(): Promise<unknown> {
    const ids = [1, 2] as const;
    const held = ids.map(() => Promise.withResolvers<undefined>());
    const ended = await Promise.allSettled(
      ids.map((id, index) =>
        store.db.transaction().execute(async (transaction) => {
          await lock(transaction, id);
          held[index]?.resolve(undefined);
          await Promise.all(held.map(({ promise }) => promise));
          await lock(transaction, 3 - id);
        }),
      ),
    );
    const failed = ended.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return undefined;
  }

  /** What the second of two transactions gets that changed the row of the first. */
  function conflict(): Promise<unknown> {
    const update = (db: Database) => sql`UPDATE held SET id = 3 WHERE id = 1`.execute(db);
    return store.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (late) => {
        await sql`SELECT FROM held`.execute(late);
        await sql`UPDATE held SET id = id WHERE id = 1`.execute(store.db);
        await update(late);
      });
  }

  function heldRow(setting: string): Promise<unknown> {
    return store.db.transaction().execute(async (holder) => {
      await lock(holder, 1);
      await store.db.transaction().execute(async (waiting) => {
        await sql`SET LOCAL ${sql.raw(setting)} = 20`.execute(waiting);
        await lock(waiting, 1);
      });
    });
  }

  const SLOW: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['a statement that takes too long', () => heldRow('statement_timeout')],
    ['a lock that is held for too long', () => heldRow('lock_timeout')],
    ['a deadlock', deadlock],
    ['a row that another transaction changed', conflict],
    [
      'a pool without a free connection',
      () => one.db.connection().execute(() => sql`SELECT 1`.execute(one.db)),
    ],
  ];

  it.each(SLOW)('says that Postgres took too long: %s', async (_, fail) => {
    const mapped = toGatewayError(await errorOf(fail()));
    expect(mapped).toMatchObject({ code: 'gateway_not_ready', message: TOO_SLOW });
  });

  it('says that Postgres cannot be reached if no socket is there', async () => {
    const client = new pg.Client({ host: '/nonexistent', port: 1 });
    const mapped = toGatewayError(await errorOf(client.connect()));
    expect(mapped).toMatchObject({ code: 'gateway_not_ready', message: UNREACHABLE });
  });

  it('does not blame Postgres for a missing file', async () => {
    const mapped = toGatewayError(await errorOf(readFile('/nonexistent/file')));
    expect(mapped.code).toBe('internal_error');
  });
});
