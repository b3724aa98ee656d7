import { ALL_PARTS } from '../../src/quota/fleet/fleet.ts';
import type { FleetPlace } from '../../src/quota/fleet/fleet-place.ts';

export interface FixedFleetOptions {
  readonly nodes: number;
  /** The slot of this data plane. */
  readonly node: number;
  /** Whether each has an equal share, or none. */
  readonly shares: boolean;
  /** One data plane has all, and the others none. */
  readonly allTo?: number | undefined;
}

/** The place of a data plane in a fleet that never changes. */
export function fixedFleet({ nodes, node, shares, allTo }: FixedFleetOptions): FleetPlace {
  const equal = shares ? Math.floor(ALL_PARTS / nodes) : 0;
  const partsOf = (slot: number) => {
    if (allTo === undefined) return equal;
    return slot === allTo ? ALL_PARTS : 0;
  };
  const slots = [...Array(nodes).keys()].filter((slot) => slot !== node);
  const member = (slot: number) => ({ slot, id: `dp-${slot}`, parts: partsOf(slot), from_ms: 0 });
  const view = {
    own: member(node),
    others: slots.map(member),
    spent: undefined,
    formerBeforeMs: 0,
    nextSlot: nodes,
    validForMs: Infinity,
  };
  return { view, viewFor: () => view, noteDebt: () => undefined };
}
