import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import type { ConformanceSuite } from './case.ts';
import { startRig, type ConformanceRig } from './rig.ts';
import { runCase } from './run-case.ts';

/** One data plane and one upstream for all cases of a suite: what one leaves behind meets the next. */
export function runSuite(suite: ConformanceSuite, route: Partial<SnapshotRoute> = {}): void {
  describe(`${suite.name} (${suite.cases.length} cases)`, () => {
    let rig: ConformanceRig;
    beforeAll(async () => void (rig = await startRig(route)));
    afterAll(() => rig.close());
    it.each(suite.cases.map((one) => [one.name, one.rule, one] as const))(
      '%s [%s]',
      (_name, _rule, one) => runCase(rig, one),
    );
  });
}
