import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FaultSuite } from './scenario.ts';

const OPENING_MS = 90_000;
const SCENARIO_MS = 150_000;

/** The short form of a suite: each fault lasts `outageMs`. */
export function describeFaults<World extends { close(): Promise<void> }>(
  suite: FaultSuite<World>,
  outageMs: number,
): void {
  describe(suite.name, () => {
    let world: World | undefined;
    beforeAll(async () => {
      world = await suite.open(outageMs);
    }, OPENING_MS);
    afterAll(() => world?.close());

    for (const scenario of suite.scenarios) {
      it(
        scenario.fault,
        async () => {
          if (world === undefined) throw new Error('the system did not start');
          const { row, problems } = await scenario.run(world, outageMs);
          expect(problems).toEqual([]);
          expect(row.requests).toBeGreaterThan(0);
        },
        SCENARIO_MS,
      );
    }
  });
}
