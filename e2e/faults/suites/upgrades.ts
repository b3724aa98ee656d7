import { startUpgradeWorld, type UpgradeWorld } from '../harness/releases/upgrade-world.ts';
import type { FaultSuite } from '../harness/scenario.ts';
import { controlPlanesFirst, dataPlanesFirst, inTurns } from '../scenarios/upgrade.ts';

/** Two consecutive releases run beside each other. */
export const upgrades: FaultSuite<UpgradeWorld> = {
  name: 'upgrades',
  open: startUpgradeWorld,
  scenarios: [controlPlanesFirst, dataPlanesFirst, inTurns],
};
