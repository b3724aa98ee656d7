import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { sql } from 'kysely';
import { openTestStore, type TestStore } from '../../../../test/store.ts';
import { openDatabase, type OpenDatabase } from '../../../store/database.ts';
import { deleteExpiredKeys, dropOldestKeys } from './clean-keys.ts';
import { claimKey, storeResponse } from './keys.ts';

const NOW = Date.UTC(2030, 5, 15);
const BYTES = 50_000;

describe('the cleanup of idempotency keys', () => {
  let store: TestStore;
  /** Its statements and their statistics are of one connection. */
  let one: OpenDatabase;
  beforeEach(async () => {
    store = await openTestStore();
    const log = createLogger('test', 'silent');
    one = openDatabase({ url: store.url, log, maxConnections: 1 });
  });
  afterEach(async () => {
    await one.close();
    await store.close();
  });

  async function addKey(nowMs: number): Promise<void> {
    await store.db.transaction().execute(async (transaction) => {
      const keySha256 = randomBytes(32);
      const claim = {
        tokenId: 'tok_1',
        keySha256,
        fingerprint: keySha256,
        requestId: 'req_1',
        nowMs,
      };
      await claimKey(transaction, claim, 1000);
      // Random, so that Postgres cannot compress it: it is stored out of the row.
      const data = { text: randomBytes(BYTES / 2).toString('hex') };
      const response = { kind: 'one', data, location: null, etag: null, concerns: null } as const;
      await storeResponse(transaction, claim, response, undefined);
    });
  }

  /** The blocks of stored responses that the connection has read. */
  async function responseBlocks(): Promise<number> {
    await sql`SELECT pg_stat_force_next_flush()`.execute(one.db);
    const { rows } = await sql<{ blocks: number }>`
      SELECT (toast_blks_read + toast_blks_hit)::int AS blocks FROM pg_statio_user_tables
      WHERE relname = 'idempotency_keys'
    `.execute(one.db);
    return rows[0]?.blocks ?? NaN;
  }

  it('reads no response to keep their bound', async () => {
    for (let key = 0; key < 5; key += 1) await addKey(NOW + key);
    const bounds = { maxKeys: 100, maxBytes: 3 * BYTES + 1000 };
    expect(await dropOldestKeys(one.db, bounds)).toBe(2);
    const before = await responseBlocks();
    expect(await dropOldestKeys(one.db, bounds)).toBe(0);
    expect(await responseBlocks()).toBe(before);
    const { rows } = await sql<{ bytes: number }>`SELECT bytes FROM idempotency_keys`.execute(
      one.db,
    );
    expect(rows.map(({ bytes }) => bytes)).toEqual(
      [0, 1, 2].map(() => BYTES + '{"text":""}'.length),
    );
  });

  it('deletes expired keys', async () => {
    for (const ms of [0, 1, 2]) await addKey(NOW + ms);
    expect(await deleteExpiredKeys(one.db, new Date(NOW + 24 * 60 * 60 * 1000 + 1))).toBe(2);
  });
});
