import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { openDatabase } from '../../store/database.ts';
import { findRecord } from '../store/records.ts';
import { requestRecord } from '@gateway/shared/test/request-record';
import { openTestStore, type TestStore } from '../../../test/store.ts';
import { storableRecord } from './storable-record.ts';
import { storeBatch } from './store-batch.ts';

const AT_MS = Date.UTC(2030, 0, 1);

let store: TestStore;
beforeAll(async () => void (store = await openTestStore()));
afterAll(() => store.close());

describe('a batch of records', () => {
  it('is stored except for the records that Postgres rejects', async () => {
    const good = Array.from({ length: 9 }, (_, index) =>
      storableRecord(requestRecord(AT_MS + index)),
    );
    const [first, second] = good;
    if (first === undefined || second === undefined) throw new Error('there are nine');
    const tooLarge = storableRecord(requestRecord(AT_MS, { status: 2 ** 40 }));
    const noJson = { ...storableRecord(requestRecord(AT_MS)), document: '{"path":"\\u0000"}' };
    const result = await storeBatch(store.db, [first, tooLarge, ...good.slice(1), noJson]);
    expect(result.inserted).toBe(9);
    expect(result.refusedIds.toSorted()).toEqual([tooLarge.id, noJson.id].sort());
    for (const { id, receivedAtMs } of good) {
      expect(await findRecord(store.db, id, receivedAtMs)).toBeDefined();
    }
  });

  it('rejects if Postgres is unavailable', async () => {
    const log = createLogger('test', 'silent');
    const away = openDatabase({ url: 'postgres://127.0.0.1:1/none', log });
    await expect(storeBatch(away.db, [storableRecord(requestRecord(AT_MS))])).rejects.toThrow();
    await away.close();
  });
});
