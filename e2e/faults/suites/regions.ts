import { startRegionWorld, type RegionWorld } from '../harness/region-world.ts';
import type { FaultSuite } from '../harness/scenario.ts';
import { linkBetweenRegions } from '../scenarios/regions.ts';

/** Data planes in two regions, of which one has the stores. */
export const regions: FaultSuite<RegionWorld> = {
  name: 'two regions',
  open: startRegionWorld,
  scenarios: [linkBetweenRegions],
};
