import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../src/store/database.ts';

/** A unique environment name, because all tests share one NATS server. */
export function uniqueEnvironment(): string {
  return `test-${randomBytes(6).toString('hex')}`;
}

/**
 * Adds an environment with one service, and an outbox row of the environment, which is published as a
 * snapshot.
 */
export async function addEnvironment(db: Database, name: string): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await sql`
      INSERT INTO environments (name, created_at) VALUES (${name}, now())
    `.execute(transaction);
    await sql`
      INSERT INTO services (id, environment, name, health_path, health_check, upstreams,
        created_at, updated_at)
      VALUES (${serviceOf(name)}, ${name}, 'echo', '/healthz',
        '{"path": null, "interval_ms": 5000, "timeout_ms": 2000, "healthy_threshold": 2,
          "unhealthy_threshold": 3}',
        '[{"id": "ups_1", "url": "http://127.0.0.1:9", "region": null, "weight": 1}]', now(), now())
    `.execute(transaction);
    await addChange(transaction, name);
  });
}

/** Adds an active route, and the outbox row of that change, in one transaction. */
export async function addRoute(db: Database, environment: string, name: string): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await sql`
      INSERT INTO routes (id, environment, name, service_id, status, timeout_ms, retry_count,
        auth, rate_limit, retry, idempotency, regions, max_body_bytes, created_at, updated_at)
      VALUES (${`rte_${environment}_${name}`}, ${environment}, ${name}, ${serviceOf(environment)},
        'active', 10000, 2, '{"type": "token"}',
        '{"limit": 60000, "window_seconds": 60, "per": "route"}',
        '{"on_statuses": [502], "per_attempt_timeout_ms": null, "backoff_ms": 25,
          "unsafe_methods": "never"}',
        '{"required": false, "on_unknown": "refuse"}', '{}', 10485760, now(), now())
    `.execute(transaction);
    await addChange(transaction, environment);
  });
}

/** Updates or deletes a route, and adds the outbox row of that change. */
export async function changeRoute(
  db: Database,
  environment: string,
  name: string,
  kind: 'update' | 'delete',
): Promise<void> {
  const id = `rte_${environment}_${name}`;
  await db.transaction().execute(async (transaction) => {
    if (kind === 'delete') await sql`DELETE FROM routes WHERE id = ${id}`.execute(transaction);
    else {
      await sql`
        UPDATE routes SET timeout_ms = 1234, revision = revision + 1 WHERE id = ${id}
      `.execute(transaction);
    }
    await sql`
      INSERT INTO config_outbox (environment, action, kind, entity_id)
      VALUES (${environment}, 'test', 'route', ${id})
    `.execute(transaction);
  });
}

/** Adds a token that covers the environment, and the outbox row of that change. */
export async function addToken(db: Database, environment: string, name: string): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await sql`
      INSERT INTO tokens (id, name, environments, routes, scopes, secret_sha256,
        previous_sha256, previous_expires_at, created_at, updated_at)
      VALUES (${`tok_${environment}_${name}`}, ${`${environment} ${name}`}, ${[environment]}, '{*}',
        '{proxy}', ${digest(name)}, ${digest(`old ${name}`)}, now() + interval '1 hour',
        now(), now())
    `.execute(transaction);
    await addChange(transaction, environment);
  });
}

/** A unique SHA-256. */
function digest(name: string): Buffer {
  return createHash('sha256').update(name).update(randomBytes(8)).digest();
}

function serviceOf(environment: string): string {
  return `svc_${environment}`;
}

async function addChange(db: Database, environment: string): Promise<void> {
  await sql`
    INSERT INTO config_outbox (environment, action, kind, entity_id)
    VALUES (${environment}, 'test', 'environment', ${environment})
  `.execute(db);
}
