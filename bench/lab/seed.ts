import type { ManagementClient } from '@gateway/local-stack/stack/management-client';
import { TOKEN_PREFIX } from '@gateway/shared/tokens/secret';
import { createService } from './management.ts';
import { withClient } from './with-client.ts';

const SECRET_DIGITS = 43;
const SEED_MS = 300_000;

export interface Size {
  readonly services: number;
  readonly routes: number;
  readonly tokens: number;
}

/** What every seeded service and route is a copy of. */
export interface Copied {
  /** The upstream, as fields of a service: `url` or `upstreams`. */
  readonly service: object;
  readonly route?: object;
  /** Each route is reached on this host by its name as a path too. */
  readonly host?: string;
}

/** The secret of the seeded token `token-<number>`. */
export function seededSecret(number: number): string {
  return TOKEN_PREFIX + String(number).padStart(SECRET_DIGITS, '0');
}

/**
 * Fills the environment `production` with copies of one service, route and token that were created over the API. This
 * takes seconds; as many API calls would take minutes. All of it is published as one change.
 *
 * @param client calls the API with the admin token
 * @returns the ids of the routes `route-1` … `route-<count>`, in this order
 */
export async function seed(
  client: ManagementClient,
  databaseUrl: string,
  size: Size,
  copied: Copied,
): Promise<readonly string[]> {
  const environment = 'production';
  const serviceId = await createService(client, {
    name: 'service-0',
    // Health checks are not part of what is measured.
    health_check: { interval_ms: 300_000 },
    ...copied.service,
  });
  await client.post('/v1/routes', { name: 'route-0', service_id: serviceId, ...copied.route });
  const token = { name: 'token-0', environments: [environment], routes: ['*'], scopes: ['proxy'] };
  await client.post('/v1/tokens', token);
  return withClient(databaseUrl, { signal: AbortSignal.timeout(SEED_MS) }, async (database) => {
    await database.query('BEGIN');
    await database.query(
      `INSERT INTO services SELECT (jsonb_populate_record(s, jsonb_build_object(
         'id', 'svc_' || lpad(n::text, 26, '0'), 'name', 'service-' || n,
         'upstreams', (SELECT jsonb_agg(upstream || jsonb_build_object(
            'id', 'ups_' || lpad((n * 100 + place)::text, 26, '0')))
          FROM jsonb_array_elements(s.upstreams) WITH ORDINALITY AS each(upstream, place))))).*
       FROM services s, generate_series(1, $1::int) n WHERE s.name = 'service-0'`,
      [size.services],
    );
    await database.query(
      `INSERT INTO routes SELECT (jsonb_populate_record(r, jsonb_build_object(
         'id', 'rte_' || lpad(n::text, 26, '0'), 'name', 'route-' || n,
         'service_id', 'svc_' || lpad((n % $2::int + 1)::text, 26, '0'),
         'match', CASE WHEN $3::text IS NULL THEN to_jsonb(r) -> 'match' ELSE jsonb_build_array(jsonb_build_object(
            'hosts', jsonb_build_array($3::text), 'headers', '[]'::jsonb,
            'paths', jsonb_build_array(jsonb_build_object('prefix', '/route-' || n)))) END))).*
       FROM routes r, generate_series(1, $1::int) n WHERE r.name = 'route-0'`,
      [size.routes, size.services, copied.host ?? null],
    );
    await database.query(
      `INSERT INTO tokens SELECT (jsonb_populate_record(t, jsonb_build_object(
         'id', 'tok_' || lpad(n::text, 26, '0'), 'name', 'token-' || n,
         'secret_sha256', '\\x' || encode(sha256(
           ($2::text || lpad(n::text, $3::int, '0'))::bytea), 'hex')))).*
       FROM tokens t, generate_series(1, $1::int) n WHERE t.name = 'token-0'`,
      [size.tokens, TOKEN_PREFIX, SECRET_DIGITS],
    );
    await database.query(
      `INSERT INTO config_outbox (environment, action, kind, entity_id)
       VALUES ($1, 'seeded', 'environment', $1)`,
      [environment],
    );
    await database.query('COMMIT');
    // Without statistics Postgres sorts the whole table for each page of rows that the publisher reads.
    await database.query('ANALYZE services, routes, tokens');
    const { rows } = await database.query<{ id: string }>(
      `SELECT id FROM routes WHERE name <> 'route-0' ORDER BY id`,
    );
    return rows.map(({ id }) => id);
  });
}
