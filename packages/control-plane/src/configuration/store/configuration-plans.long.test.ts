import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql, type KyselyPlugin, type RawNode } from 'kysely';
import { explain, planNodes, type PlanNode } from '../../../test/plans.ts';
import { openTestStore, type TestStore } from '../../../test/store.ts';
import { readConfiguration } from './configuration-rows.ts';

const ROWS = 5000;

/** Collects the plans of the cursors instead of reading their rows. */
function collectPlans() {
  const plans: (readonly PlanNode[])[] = [];
  const nothing = sql`SELECT WHERE false`.toOperationNode();
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      const [statement = ''] = (node as RawNode).sqlFragments;
      if (statement.startsWith('DECLARE')) return explain(node);
      return /^(?:FETCH|CLOSE)/.test(statement) ? nothing : node;
    },
    transformResult({ result }) {
      const nodes = result.rows.some((row) => 'QUERY PLAN' in row) ? planNodes(result.rows) : [];
      if (nodes.length > 0) plans.push(nodes);
      return Promise.resolve(result);
    },
  };
  return { plans, plugin };
}

describe('the rows of a snapshot', () => {
  let store: TestStore;

  /** Fills the tables at once, as an import does, without the triggers of each row. Postgres makes no statistics of them. */
  beforeAll(async () => {
    store = await openTestStore();
    await store.db.transaction().execute(async (db) => {
      for (const table of ['services', 'routes', 'tokens']) {
        await sql`ALTER TABLE ${sql.table(table)} SET (autovacuum_enabled = off)`.execute(db);
        await sql`ALTER TABLE ${sql.table(table)} DISABLE TRIGGER USER`.execute(db);
      }
      await sql`INSERT INTO environments (name, created_at) VALUES ('production', now())`.execute(
        db,
      );
      await sql`
        INSERT INTO services (
          id, environment, name, health_path, health_check, upstreams, created_at, updated_at
        )
        SELECT 'svc_' || n, 'production', 'service-' || n, '/', '{}', '[]', now(), now()
        FROM generate_series(1, ${ROWS}::int) AS n
      `.execute(db);
      await sql`
        INSERT INTO routes (
          id, environment, name, service_id, status, timeout_ms, retry_count, auth, rate_limit,
          retry, idempotency, regions, max_body_bytes, created_at, updated_at
        )
        SELECT 'rte_' || n, 'production', 'route-' || n, 'svc_' || n, 'active', 1000, 0, '{}', '{}',
          '{}', '{}', '{}', 1000, now(), now()
        FROM generate_series(1, ${ROWS}::int) AS n
      `.execute(db);
      await sql`
        INSERT INTO tokens (
          id, name, environments, routes, scopes, secret_sha256, created_at, updated_at
        )
        SELECT 'tok_' || n, 'token-' || n, '{production}', '{*}', '{}', sha256(n::text::bytea),
          now(), now()
        FROM generate_series(1, ${ROWS}::int) AS n
      `.execute(db);
    });
  });
  afterAll(() => store.close());

  it('come in the order of an index, also before Postgres has statistics of the tables', async () => {
    const { plans, plugin } = collectPlans();
    await readConfiguration(store.db.withPlugin(plugin), 'production');
    const types = plans.map((nodes) => nodes.map((node) => node['Node Type']));
    expect(types).toHaveLength(3);
    for (const nodes of types) {
      expect(nodes).toContain('Index Scan');
      expect(nodes).not.toContain('Sort');
    }
    // The plan of the tokens has another index too: that of their environment.
    const tokens = plans.at(-1)?.map((node) => node['Index Name']);
    expect(tokens).toContain('tokens_live');
  });
});
