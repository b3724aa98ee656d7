import type { FaultSuite } from '../harness/scenario.ts';
import { startUpstreamWorld, type UpstreamWorld } from '../harness/upstream-world.ts';
import { clockOff } from '../scenarios/clock-off.ts';
import { upstreamFlapping } from '../scenarios/upstream-flapping.ts';
import { nameGone, nameMoves, nameServerSilent } from '../scenarios/upstream-names.ts';

/** What is outside of the gateway and goes wrong there. */
export const upstreamsAndClocks: FaultSuite<UpstreamWorld> = {
  name: 'upstreams, their names, and clocks',
  open: startUpstreamWorld,
  scenarios: [clockOff, upstreamFlapping, nameMoves, nameGone, nameServerSilent],
};
