import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql, type KyselyPlugin } from 'kysely';
import { explain, planNodes, type PlanNode } from '../../../test/plans.ts';
import { openTestStore, type TestStore } from '../../../test/store.ts';
import { REQUEST_RECORDS } from '../../partitions/partitioned-table.ts';
import { createPartitions } from '../../partitions/store/partitions.ts';
import { listRecords, type RecordQuery } from './records.ts';

const DAY = Date.UTC(2030, 5, 15);
const ROWS = 40_000;
const everything = { environments: undefined, routes: undefined, sinceMs: DAY, limit: 51 };

/** Makes each statement an EXPLAIN of itself. */
const explaining: KyselyPlugin = {
  transformQuery: ({ node }) => explain(node),
  transformResult: ({ result }) => Promise.resolve(result),
};

describe('the plan of a list of request records', () => {
  let store: TestStore;

  beforeAll(async () => {
    store = await openTestStore();
    await createPartitions(store.db, REQUEST_RECORDS, [DAY]);
    await sql`
      INSERT INTO request_records (received_at, id, environment, route, status, outcome, document)
      SELECT to_timestamp(${DAY / 1000}::float8) + n * interval '2 ms', 'req_' || n,
        CASE n % 3 WHEN 0 THEN 'development' ELSE 'production' END, 'route-' || n % 40,
        200, 'success', '{"method": "GET", "path": "/v1/proxy/route"}'
      FROM generate_series(1, ${ROWS}::int) AS n
    `.execute(store.db);
    await sql`ANALYZE request_records`.execute(store.db);
  });

  afterAll(() => store.close());

  /** The nodes of the plan below its LIMIT, from the top. */
  async function nodesBelowLimit(query: Partial<RecordQuery>): Promise<readonly PlanNode[]> {
    const db = store.db.withPlugin(explaining);
    const { rows } = await listRecords(db, { ...everything, ...query });
    const nodes = planNodes(rows);
    return nodes.slice(nodes.findIndex((node) => node['Node Type'] === 'Limit') + 1);
  }

  it.each([{ route: 'route-7' }, { route: 'route-7', environment: 'production' }])(
    'reads the newest records of %j in the order of the index, and sorts only those of one moment',
    async (query) => {
      const nodes = await nodesBelowLimit(query);
      const scans = nodes.filter((node) => node['Node Type'].includes('Scan'));
      const indexes = scans.map((node) => node['Index Name'] ?? node['Node Type']);
      expect(indexes).toContain('request_records_20300615_route_received_at_environment_idx');
      expect(indexes).not.toContain('Seq Scan');
      const sorts = nodes.filter((node) => node['Node Type'].includes('Sort'));
      expect(sorts.map((node) => node['Presorted Key'])).toEqual([['request_records.received_at']]);
    },
  );
});
