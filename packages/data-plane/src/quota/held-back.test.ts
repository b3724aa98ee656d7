import { describe, expect, it } from '@jest/globals';
import { ALL_PARTS, type FleetMember } from './fleet.ts';
import type { FleetView } from './fleet-view.ts';
import { heldForOthers, nextReserves } from './held-back.ts';

const NOBODY = new Map<number, never>();
const WINDOW = { limit: 100, startMs: 1000 };
/** After the begin of the window. */
const LATER_MS = 9000;

const member = (slot: number, parts: number, from_ms: number): FleetMember => ({
  slot,
  id: `dp-${slot}`,
  parts: parts * ALL_PARTS,
  from_ms,
});
const view = (own: FleetMember, other: FleetMember): FleetView => ({
  own,
  others: [other],
  spent: undefined,
  nextSlot: 2,
  validForMs: Infinity,
});

/** What one data plane holds for another, which has stored a reserve of 40 as this member of the fleet. */
function heldFor(writer: FleetMember, asSeenByReader: FleetMember): number {
  const reader = member(0, 0.5, 0);
  const reserves = nextReserves({}, WINDOW, 40, view(writer, reader), NOBODY);
  return heldForOthers(reserves, WINDOW, view(reader, asSeenByReader), NOBODY);
}

describe('what is held for another data plane that has stored a reserve', () => {
  it('is all of it if it has just got a share, which this data plane does not know yet', () => {
    expect(heldFor(member(1, 0.5, LATER_MS), member(1, 0, 0))).toBe(40);
  });

  it('is all of it if its share has just grown, which this data plane does not know yet', () => {
    expect(heldFor(member(1, 0.5, LATER_MS), member(1, 0.25, 0))).toBe(40);
  });

  it('is no more than its share if that has become smaller since', () => {
    expect(heldFor(member(1, 0.5, 0), member(1, 0.25, 0))).toBe(25);
  });

  it('is less if it gives that up, and still no more than a share that becomes smaller', () => {
    const reader = member(0, 0.5, 0);
    const other = member(1, 0.5, 0);
    const givenUp = new Map([[1, { keeps: 30, writes: 0, gives: 0 }]]);
    const reserves = nextReserves({}, WINDOW, 50, view(reader, other), givenUp);
    expect(heldForOthers(reserves, WINDOW, view(reader, other), NOBODY)).toBe(30);
    const smaller = member(1, 0.25, 0);
    expect(heldForOthers(reserves, WINDOW, view(reader, smaller), NOBODY)).toBe(25);
  });
});
