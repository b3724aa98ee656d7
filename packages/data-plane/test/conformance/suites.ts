import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import type { ConformanceCase } from './case.ts';
import { startRig, type ConformanceRig } from './rig.ts';
import { runCase } from './run-case.ts';

const RULE = /^(?:RFC \d{4} sections? \d|docs\/[a-z/-]+\.md)/;

/**
 * Registers suites of cases. All cases of a suite use one data plane and one upstream, so that bytes left by one case
 * would affect the next. Prints the number of cases.
 */
export function runSuites(
  suites: Readonly<Record<string, readonly ConformanceCase[]>>,
  route: Partial<SnapshotRoute> = {},
): void {
  describe.each(Object.entries(suites))('%s', (_suite, cases) => {
    let rig: ConformanceRig;
    beforeAll(async () => void (rig = await startRig(route)));
    afterAll(() => rig.close());

    it.each(cases.map((one) => [one.name, one.rule, one] as const))(
      '%s [%s]',
      async (_name, rule, one) => {
        expect(rule).toMatch(RULE);
        await runCase(rig, one);
      },
    );
  });
  afterAll(() => {
    const counts = Object.entries(suites).map(([name, { length }]) => `${name} ${length}`);
    process.stdout.write(`conformance cases: ${counts.join(', ')}\n`);
  });
}
