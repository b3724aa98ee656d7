import type { FaultResult, FaultSuite } from './scenario.ts';

/** A suite whose world is its own affair. */
export interface SuiteRun {
  readonly name: string;
  readonly faults: readonly string[];
  /**
   * Takes one fault after the other, and tells of each as it is over.
   *
   * @param wanted the faults to take; a suite of which none is wanted opens nothing
   */
  run(
    outageMs: number,
    wanted: (fault: string) => boolean,
    over: (result: FaultResult) => void,
  ): Promise<void>;
}

export function runSuite<World extends { close(): Promise<void> }>(
  suite: FaultSuite<World>,
): SuiteRun {
  return {
    name: suite.name,
    faults: suite.scenarios.map(({ fault }) => fault),
    async run(outageMs, wanted, over) {
      const scenarios = suite.scenarios.filter(({ fault }) => wanted(fault));
      if (scenarios.length === 0) return;
      const world = await suite.open(outageMs);
      try {
        for (const scenario of scenarios) over(await scenario.run(world, outageMs));
      } finally {
        await world.close();
      }
    },
  };
}
