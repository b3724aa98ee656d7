import { createTestDatabase } from '@gateway/local-stack/test/test-database';
import { describe, expect, it } from '@jest/globals';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { up as configuration } from '../../../../../migrations/0001_configuration.ts';
import { up as routePolicies } from '../../../../../migrations/0003_route_policies.ts';

describe('the migration to route policies', () => {
  it('keeps the routes that stood before, and holds the services that they name', async () => {
    const database = await createTestDatabase();
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    try {
      // A schema of its own, in which no migration has run yet.
      await sql`CREATE SCHEMA before`.execute(db);
      await sql`SET search_path TO before`.execute(db);
      await configuration(db);
      await sql`INSERT INTO environments (name, created_at) VALUES ('production', now())`.execute(
        db,
      );
      await sql`
        INSERT INTO services (id, environment, name, health_path, health_check, upstreams,
          created_at, updated_at)
        VALUES ('svc_1', 'production', 'echo', '/', '{}', '[]', now(), now())
      `.execute(db);
      const addRoute = (name: string) =>
        sql`
          INSERT INTO routes (id, environment, name, service_id, status, timeout_ms, retry_count,
            auth, rate_limit, retry, max_body_bytes, created_at, updated_at)
          VALUES (${`rte_${name}`}, 'production', ${name}, 'svc_1', 'active', 1, 1, '{}', '{}', '{}',
            1, now(), now())
        `.execute(db);
      await addRoute('before');
      await routePolicies(db);
      // As a control plane of the version before does while this one is being rolled out.
      await addRoute('during');

      const held = await sql`SELECT * FROM route_services ORDER BY route_id`.execute(db);
      expect(held.rows).toEqual(
        ['rte_before', 'rte_during'].map((route_id) => {
          return { route_id, environment: 'production', service_id: 'svc_1' };
        }),
      );
      const { rows } = await sql`SELECT * FROM routes`.execute(db);
      for (const row of rows) {
        expect(row).toMatchObject({
          ...{ service_id: 'svc_1', versions: null, regions: [] },
          idempotency: { required: false, on_unknown: 'refuse' },
        });
      }
      expect(rows).toHaveLength(2);
    } finally {
      await db.destroy();
      await database.drop();
    }
  });
});
