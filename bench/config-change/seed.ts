import type { ManagementClient } from '@gateway/local-stack/stack/management-client';
import pg from 'pg';
import { createService } from '../lab/management.ts';

export interface Size {
  readonly services: number;
  readonly routes: number;
  readonly tokens: number;
}

export interface Seeded {
  /** Ids of the routes `route-1` … `route-<count>`, in this order. */
  readonly routeIds: readonly string[];
}

/**
 * Fills the environment `production` with copies of one service, route and token that were created over the API. This
 * takes seconds; as many API calls would take minutes. All of it is published as one change.
 *
 * @param client calls the API with the admin token
 */
export async function seed(
  client: ManagementClient,
  databaseUrl: string,
  upstreamUrl: string,
  size: Size,
): Promise<Seeded> {
  const environment = 'production';
  const serviceId = await createService(client, {
    name: 'service-0',
    url: upstreamUrl,
    // Health checks are not part of what is measured.
    health_check: { interval_ms: 300_000 },
  });
  const route = { name: 'route-0', service_id: serviceId, methods: ['PUT'] };
  await client.post('/v1/routes', route);
  const token = { name: 'token-0', environments: [environment], routes: ['*'], scopes: ['proxy'] };
  await client.post('/v1/tokens', token);
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await database.query('BEGIN');
    await database.query(
      `INSERT INTO services SELECT (jsonb_populate_record(s, jsonb_build_object(
         'id', 'svc_' || lpad(n::text, 26, '0'), 'name', 'service-' || n))).*
       FROM services s, generate_series(1, $1::int) n WHERE s.name = 'service-0'`,
      [size.services],
    );
    await database.query(
      `INSERT INTO routes SELECT (jsonb_populate_record(r, jsonb_build_object(
         'id', 'rte_' || lpad(n::text, 26, '0'), 'name', 'route-' || n,
         'service_id', 'svc_' || lpad((n % $2::int + 1)::text, 26, '0')))).*
       FROM routes r, generate_series(1, $1::int) n WHERE r.name = 'route-0'`,
      [size.routes, size.services],
    );
    await database.query(
      `INSERT INTO tokens SELECT (jsonb_populate_record(t, jsonb_build_object(
         'id', 'tok_' || lpad(n::text, 26, '0'), 'name', 'token-' || n,
         'secret_sha256', '\\x' || encode(sha256(n::text::bytea), 'hex')))).*
       FROM tokens t, generate_series(1, $1::int) n WHERE t.name = 'token-0'`,
      [size.tokens],
    );
    await database.query(
      `INSERT INTO config_outbox (environment, action, kind, entity_id)
       VALUES ($1, 'seeded', 'environment', $1)`,
      [environment],
    );
    await database.query('COMMIT');
    const { rows } = await database.query<{ id: string }>(
      `SELECT id FROM routes WHERE name <> 'route-0' ORDER BY id`,
    );
    return { routeIds: rows.map(({ id }) => id) };
  } finally {
    await database.end();
  }
}
