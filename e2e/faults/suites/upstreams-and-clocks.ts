import type { FaultSuite } from '../harness/scenario.ts';
import { startUpstreamWorld, type UpstreamWorld } from '../harness/upstream-world.ts';
import { clockOff } from '../scenarios/clock-off.ts';
import { upstreamFlapping } from '../scenarios/upstream-flapping.ts';
import { nameDenied, nameChanges, nameServerSilent } from '../scenarios/upstream-names.ts';

/** Faults outside of the gateway. */
export const upstreamsAndClocks: FaultSuite<UpstreamWorld> = {
  name: 'upstreams, names and clocks',
  open: startUpstreamWorld,
  scenarios: [clockOff, upstreamFlapping, nameChanges, nameDenied, nameServerSilent],
};
