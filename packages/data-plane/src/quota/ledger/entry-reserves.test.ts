import { describe, expect, it } from '@jest/globals';
import { ALL_PARTS, type FleetMember } from '../fleet/fleet.ts';
import type { FleetView } from '../fleet/fleet-place.ts';
import { nextReserves, reservedForOthers } from './entry-reserves.ts';

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
  formerBeforeMs: 0,
  nextSlot: 2,
  validForMs: Infinity,
});

/** What one data plane leaves to another, which has stored a reserve of 40 as this member of the fleet. */
function reservedFor(writer: FleetMember, asSeenByReader: FleetMember): number {
  const reader = member(0, 0.5, 0);
  const reserves = nextReserves({}, WINDOW, 40, view(writer, reader), NOBODY);
  return reservedForOthers(reserves, WINDOW, view(reader, asSeenByReader), NOBODY);
}

describe('what is reserved for another data plane that has stored a reserve', () => {
  it('is all of it if it has just got a share, which this data plane does not know yet', () => {
    expect(reservedFor(member(1, 0.5, LATER_MS), member(1, 0, 0))).toBe(40);
  });

  it('is all of it if its share has just grown, which this data plane does not know yet', () => {
    expect(reservedFor(member(1, 0.5, LATER_MS), member(1, 0.25, 0))).toBe(40);
  });

  it('is no more than its share if that has become smaller since', () => {
    expect(reservedFor(member(1, 0.5, 0), member(1, 0.25, 0))).toBe(25);
  });

  it('is less if it releases that, and still no more than a share that becomes smaller', () => {
    const reader = member(0, 0.5, 0);
    const other = member(1, 0.5, 0);
    const released = new Map([[1, { keeps: 30, writes: 0, gives: 0 }]]);
    const reserves = nextReserves({}, WINDOW, 50, view(reader, other), released);
    expect(reservedForOthers(reserves, WINDOW, view(reader, other), NOBODY)).toBe(30);
    const smaller = member(1, 0.25, 0);
    expect(reservedForOthers(reserves, WINDOW, view(reader, smaller), NOBODY)).toBe(25);
  });

  it.each([
    ['before it started', LATER_MS - 1, 0],
    ['since it started', LATER_MS, 40],
  ])(
    'is released if the answer knows of no reserve that was stored %s: %d',
    (_when, fromMs, reserved) => {
      const reader = member(0, 0.5, 0);
      const other = member(1, 0.5, fromMs);
      const reserves = nextReserves({}, WINDOW, 40, view(other, reader), NOBODY);
      const answer = { keeps: 0, writes: 0, gives: 0, former_before_ms: LATER_MS };
      const seen = view(reader, other);
      expect(reservedForOthers(reserves, WINDOW, seen, new Map([[1, answer]]))).toBe(reserved);
      // A release without this field says only how often it has stored something.
      const { former_before_ms: _absent, ...older } = answer;
      expect(reservedForOthers(reserves, WINDOW, seen, new Map([[1, older]]))).toBe(40);
    },
  );
});
