import type { FaultResult, FaultSuite } from './scenario.ts';

/** A suite with its own kind of world. */
export interface SuiteRun {
  readonly name: string;
  readonly faults: readonly string[];
  /**
   * Runs one fault after the other, and reports each when it is over.
   *
   * @param wanted the faults to run; if the suite has none of them, nothing is started
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
