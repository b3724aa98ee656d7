import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { KyselyPlugin, RawNode } from 'kysely';
import { explain, planNodes, type PlanNode } from '../../../test/plans.ts';
import { openTestStore, type TestStore } from '../../../test/store.ts';
import { addStatistics } from './add-statistics.ts';

const RECORD = {
  receivedAtMs: Date.UTC(2030, 5, 15),
  environment: 'production',
  route: 'orders',
  version: null,
  serviceId: 'svc_1',
  status: 200,
  grpcStatus: null,
  outcome: 'success',
  configVersion: 1,
  durationMs: 5,
};
const PARSED = /durations\)?::double precision\[\]/g;

/** Collects the plan of the statement that adds the sums instead of running it. */
function collectPlan() {
  const plan: PlanNode[] = [];
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      const [statement = ''] = (node as RawNode).sqlFragments;
      return statement.includes('INSERT INTO request_statistics') ? explain(node) : node;
    },
    transformResult({ result }) {
      if (result.rows.some((row) => 'QUERY PLAN' in row)) plan.push(...planNodes(result.rows));
      return Promise.resolve(result);
    },
  };
  return { plan, plugin };
}

describe('adding to the statistics', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore();
  });
  afterAll(() => store.close());

  it('parses the durations of a sum once, not once for each of its buckets', async () => {
    const { plan, plugin } = collectPlan();
    await addStatistics(store.db.withPlugin(plugin), [RECORD]);
    const computed = plan.flatMap(({ Output = [] }) => Output).join('\n');
    expect(computed.match(PARSED)).toHaveLength(1);
  });
});
