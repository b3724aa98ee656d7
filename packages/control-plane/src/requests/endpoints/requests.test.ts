import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { eventually } from '@gateway/shared/test/eventually';
import { requestRecord } from '@gateway/shared/test/request-record';
import { REQUEST_RECORDS } from '../../partitions/partitioned-table.ts';
import { createPartitions } from '../../partitions/store/partitions.ts';
import { DAY_MS, NOW, RequestWorld, token } from '../../../test/request-world.ts';

const NOW_OF_DAY_MS = 12 * 60 * 60 * 1000;

let world: RequestWorld;
beforeEach(async () => {
  world = await RequestWorld.open();
});
afterEach(() => world.close());

describe('GET /v1/requests', () => {
  it('has full pages of the records that the token covers, newest first', async () => {
    const mine = Array.from({ length: 5 }, (_, index) =>
      requestRecord(NOW - 10_000 + index * 10, { route: 'mine' }),
    );
    const others = mine.map((record) => requestRecord(record.received_at_ms + 1));
    const elsewhere = requestRecord(NOW - 9000, { route: 'mine', environment: 'development' });
    const unknown = requestRecord(NOW - 10_000, { route: null });
    await world.insert(...mine, ...others, elsewhere, unknown);
    const caller = token(['production'], ['mine']);
    const wanted = mine.map((record) => record.id).reverse();
    const first = await world.list({ limit: '3' }, caller);
    expect(first).toMatchObject({ ids: wanted.slice(0, 3), next: expect.any(String) });
    const cursor = first !== undefined && 'next' in first ? first.next : null;
    await world.insert(requestRecord(NOW - 5000, { route: 'mine' }));
    expect(await world.list({ limit: '3', cursor: cursor ?? '' }, caller)).toEqual({
      ids: wanted.slice(3),
      next: null,
    });
  });

  it('ends in time if Postgres is slow, and continues with the cursor', async () => {
    const slowDay = NOW - NOW_OF_DAY_MS - 3 * DAY_MS;
    await createPartitions(world.store.db, REQUEST_RECORDS, [slowDay]);
    const recent = [requestRecord(NOW - 5000), requestRecord(NOW - 60_000)];
    const old = requestRecord(slowDay + 1000);
    await world.insert(...recent, old);
    const page = await world.store.db.transaction().execute(async (other) => {
      await sql`LOCK TABLE ${sql.table('request_records_20300612')}`.execute(other);
      return world.list({ limit: '3' }, token(), world.runningClock);
    });
    expect(page).toMatchObject({ ids: recent.map(({ id }) => id), next: expect.any(String) });
    const cursor = page !== undefined && 'next' in page ? page.next : null;
    const rest = await world.list(
      { limit: '3', cursor: cursor ?? '' },
      token(),
      world.runningClock,
    );
    expect(rest).toEqual({ ids: [old.id], next: null });
  }, 20_000);

  it('leaves database connections for other calls, however many slow searches run', async () => {
    const endpoints = world.endpoints();
    const lists = await world.store.db.transaction().execute(async (other) => {
      await sql`LOCK TABLE request_records_default`.execute(other);
      const gone = new AbortController();
      const asked = { query: {}, signal: gone.signal };
      const under = Promise.allSettled(
        Array.from({ length: 30 }, () => world.ask('/v1/requests', asked, endpoints)),
      );
      await eventually(async () => {
        const { rows } = await sql<{ count: number }>`
          SELECT count(*)::int FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'
        `.execute(world.store.db);
        expect(rows[0]?.count).toBe(4);
      });
      gone.abort();
      return { under };
    });
    const codes = (await lists.under).map((list) =>
      list.status === 'fulfilled' && list.value && 'code' in list.value ? list.value.code : 'list',
    );
    expect(codes.filter((code) => code === 'list')).toHaveLength(4);
    expect(codes.filter((code) => code === 'gateway_overloaded')).toHaveLength(26);
  });
});
