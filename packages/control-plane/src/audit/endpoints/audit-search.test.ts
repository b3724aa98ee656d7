import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import pg from 'pg';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';

const LISTS = 30;

describe('a list of audit events that Postgres is slow with', () => {
  let api: TestApi;
  let other: pg.Client;
  beforeAll(async () => {
    api = await startTestApi();
    other = new pg.Client({ connectionString: api.databaseUrl });
    await other.connect();
  });
  afterAll(async () => {
    await other.end();
    await api.close();
  });

  async function waiting(): Promise<number | null> {
    const text = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'audit_events'::regclass";
    return (await other.query(text)).rowCount;
  }

  it('leaves connections to other calls, and tells callers to come back', async () => {
    await other.query('BEGIN; LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE');
    const lists = Array.from({ length: LISTS }, () =>
      api.call('GET', '/v1/audit-events?request_id=req_none'),
    );
    await eventually(async () => expect(await waiting()).toBe(4));
    expect((await api.call('GET', '/v1/services')).status).toBe(200);
    const refusals: Answer[] = [];
    for (const list of lists) {
      void list.then((answer) => answer.status === 503 && refusals.push(answer));
    }
    await eventually(() => {
      api.clock.advance(3000);
      expect(refusals).toHaveLength(LISTS - 4);
    });
    const [refused] = refusals;
    expect(refused?.json.error).toMatchObject({ code: 'gateway_overloaded' });
    expect(refused?.headers.get('retry-after')).toBe('3');
    await other.query('ROLLBACK');
    const statuses = (await Promise.all(lists)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 503)).toHaveLength(LISTS - 4);
  });
});
