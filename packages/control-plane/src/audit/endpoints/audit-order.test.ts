import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { sql } from 'kysely';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { auditEvents, createFrom } from '../../../test/audit.ts';

const service = { name: 'pay', environment: 'production', url: 'http://pay.example' };

let api: TestApi;
beforeEach(async () => void (api = await startTestApi()));
afterEach(() => api.close());

async function waitingForLocks(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
  `.execute(api.db);
  return rows[0]?.count ?? 0;
}

describe('the order of audit events', () => {
  it('is the order of the changes: an event gets its time when its row is locked', async () => {
    const { id } = await createFrom(api, '127.0.0.1', '/v1/services', service);
    const patch = (body: object) => api.call('PATCH', `/v1/services/${id}`, { body });
    let second: ReturnType<typeof patch> = Promise.reject(new Error('not started'));
    second.catch(() => undefined);
    await api.db.transaction().execute(async (holder) => {
      await sql`SELECT 1 FROM services WHERE id = ${id} FOR UPDATE`.execute(holder);
      second = patch({ health_path: '/second' });
      await eventually(async () => expect(await waitingForLocks()).toBe(1));
      api.clock.advance(1000);
    });
    const { status, json } = await second;
    expect(status).toBe(200);
    expect(json.data).toMatchObject({ updated_at: '2030-01-01T00:00:01.000Z' });
    const [event] = await auditEvents(api, `&resource_id=${id}`);
    expect(event).toMatchObject({
      action: 'service.updated',
      occurred_at: '2030-01-01T00:00:01.000Z',
    });
  });

  it('holds for changes within one millisecond, and if a replica has a slow clock', async () => {
    const { id } = await createFrom(api, '127.0.0.1', '/v1/services', service);
    for (const name of ['b', 'c', 'd', 'e']) {
      await api.call('PATCH', `/v1/services/${id}`, { body: { name } });
    }
    const other = { ...service, name: 'other' };
    await createFrom(api, '127.0.0.1', '/v1/services', other);
    await sql`UPDATE services SET updated_at = updated_at + interval '1 hour' WHERE id = ${id}`.execute(
      api.db,
    );
    const services = ['e', 'other'].map((name) => ({ name, url: 'http://of-both.example' }));
    await api.call('POST', '/v1/environments/production/apply', { body: { services } });
    const { json } = await api.call('GET', `/v1/services/${id}`);
    expect(json.data?.['updated_at']).toMatch(/^2030-01-01T01:/);
    await api.call('PATCH', `/v1/services/${id}`, { body: { name: 'f' } });
    await api.call('DELETE', `/v1/services/${id}`);
    const events = await auditEvents(api, `&resource_id=${id}`);
    const names = events.map(({ after }) => (after as { name: string } | null)?.name);
    expect(names).toEqual([undefined, 'f', 'e', 'e', 'd', 'c', 'b', 'pay']);
  });
});
