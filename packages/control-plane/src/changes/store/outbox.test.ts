import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { startTestApi, type TestApi } from '../../../test/api.ts';

let api: TestApi;
beforeEach(async () => void (api = await startTestApi()));
afterEach(() => api.close());

async function make(path: string, body: object): Promise<string> {
  const answer = await api.call('POST', path, { body });
  expect(answer.status).toBe(201);
  return answer.json.data?.id ?? '';
}

async function makeService(): Promise<string> {
  const credential = { type: 'bearer', token: 'a-secret-of-an-upstream' };
  const body = { name: 'orders', environment: 'production', url: 'http://a.example', credential };
  return make('/v1/services', body);
}

/** The changes of an entity, with `before` and `after` converted to rows by Postgres. */
async function history(table: 'services' | 'routes', id: string) {
  const name = sql.table(table);
  const { rows } = await sql<{ action: string; before: unknown; after: unknown; now: unknown }>`
    SELECT action, kind, environment,
      (SELECT to_jsonb(r) FROM jsonb_populate_record(null::${name}, before) r WHERE before IS NOT NULL)
        AS before,
      (SELECT to_jsonb(r) FROM jsonb_populate_record(null::${name}, after) r WHERE after IS NOT NULL)
        AS after,
      (SELECT to_jsonb(r) FROM ${name} r WHERE r.id = entity_id) AS now
    FROM config_outbox WHERE entity_id = ${id} ORDER BY config_outbox.id
  `.execute(api.db);
  return rows;
}

describe('the outbox', () => {
  it('contains the whole row of a service before and after each change, which Postgres can restore', async () => {
    const id = await makeService();
    await api.call('PATCH', `/v1/services/${id}`, { body: { health_path: '/alive' } });
    const [created, updated] = await history('services', id);
    expect(created).toMatchObject({ action: 'service.created', before: null });
    expect(updated?.before).toEqual(created?.after);
    expect(updated?.after).toEqual(updated?.now);
    expect(updated?.now).toMatchObject({ health_path: '/alive', revision: 2 });
    await api.call('DELETE', `/v1/services/${id}`);
    const deleted = (await history('services', id))[2];
    expect(deleted).toMatchObject({ action: 'service.deleted', after: null, now: null });
    expect(deleted?.before).toEqual(updated?.after);
  });

  it('contains the whole row of a route before and after each change', async () => {
    const serviceId = await makeService();
    const versions = [{ name: 'v1', service_id: serviceId, weight: 1 }];
    const body = { name: 'orders', versions, methods: ['GET'], regions: ['eu'] };
    const id = await make('/v1/routes', body);
    await api.call('PATCH', `/v1/routes/${id}`, {
      body: { versions: null, service_id: serviceId },
    });
    const [created, updated] = await history('routes', id);
    expect(created?.after).toMatchObject({ versions, methods: ['GET'], service_id: null });
    expect(updated?.before).toEqual(created?.after);
    expect(updated?.after).toEqual(updated?.now);
  });

  it('contains only the id of a token, in each environment that it covers', async () => {
    const body = { name: 'everywhere', environments: ['*'], scopes: ['proxy'] };
    const id = await make('/v1/tokens', body);
    const rows = await api.db
      .selectFrom('config_outbox')
      .select(['environment', 'kind', 'before', 'after'])
      .where('entity_id', '=', id)
      .orderBy('environment')
      .execute();
    const nothing = { kind: 'token', before: null, after: null };
    expect(rows).toEqual([
      { environment: 'development', ...nothing },
      { environment: 'production', ...nothing },
    ]);
  });

  it('contains upstream secrets only encrypted', async () => {
    const id = await makeService();
    expect(JSON.stringify(await history('services', id))).not.toContain('a-secret-of-an-upstream');
  });
});
