import { formatField } from '@gateway/shared/formats';
import { z } from 'zod';

/** The format of the stored fleet. */
const FLEET_FORMAT = 1;
/** For the errors of the estimated clocks of two data planes together, ms. */
export const CLOCK_ERROR_MS = 500;
/** Shares are numbers of parts: all of a limit is `ALL_PARTS`, which 1 to 16 members divide without remainder. */
export const ALL_PARTS = 720_720;

const memberSchema = z.object({
  /** Identifies this place in the fleet. Never used again after the member has left. */
  slot: z.int().min(0),
  /** The data plane whose place this is. */
  id: z.string().max(64),
  parts: z.int().min(0).max(ALL_PARTS),
  /** The share applies to windows that begin at this time or later, by the clock of the ledger, ms. */
  from_ms: z.number(),
});

const fleetSchema = z.object({
  format: formatField(FLEET_FORMAT),
  next_slot: z.int().min(0),
  members: z.array(memberSchema).max(10_000),
});

export type FleetMember = Readonly<z.infer<typeof memberSchema>>;

/**
 * The data planes that have a share of each window, stored once for all. Each member changes only its own share, by
 * compare-and-set, and only so that all shares together are at most `ALL_PARTS`.
 */
export interface Fleet {
  readonly next_slot: number;
  readonly members: readonly FleetMember[];
}

export const NO_FLEET: Fleet = { next_slot: 0, members: [] };

/** The stored form of a fleet. */
export function encodeFleet(fleet: Fleet): string {
  return JSON.stringify({ format: FLEET_FORMAT, ...fleet });
}

/** @throws ZodError or SyntaxError if it is not a fleet of this format */
export function decodeFleet(value: Uint8Array): Fleet {
  const text = Buffer.from(value).toString('utf8');
  const { next_slot, members } = fleetSchema.parse(JSON.parse(text));
  return { next_slot, members };
}

/** A window of a limit. */
export interface WindowOfLimit {
  readonly limit: number;
  /** By the clock of the ledger, ms. */
  readonly startMs: number;
}

/**
 * The reserve of the member before it uses or releases any of it. A window that began before the share may have been
 * granted to others, so in that one the member has only what it leases.
 */
export function shareOf(member: FleetMember, { limit, startMs }: WindowOfLimit): number {
  return startMs >= member.from_ms ? shareOfLimit(limit, member.parts) : 0;
}

/** What a share of so many parts is of a limit: the largest reserve of its member. */
export function shareOfLimit(limit: number, parts: number): number {
  return Math.floor((limit * parts) / ALL_PARTS);
}

/** The parts of each of so many members, if all have the same. */
export function equalParts(members: number): number {
  return Math.floor(ALL_PARTS / members);
}

/** Adds a member without a share, in a new slot. */
export function join(fleet: Fleet, id: string): Fleet {
  const member = { slot: fleet.next_slot, id, parts: 0, from_ms: 0 };
  return { ...fleet, next_slot: fleet.next_slot + 1, members: [...fleet.members, member] };
}

/** Removes members. Their reserves are free. */
export function remove(fleet: Fleet, slots: ReadonlySet<number>): Fleet {
  return { ...fleet, members: fleet.members.filter(({ slot }) => !slots.has(slot)) };
}

/**
 * The share that the member of this slot should change to: an equal part, as far as the others leave it. undefined if
 * it has that already. A larger share applies from `fromMs` on; until then, and in windows that began before, the member
 * has none.
 */
export function balanced(fleet: Fleet, slot: number, fromMs: number): FleetMember | undefined {
  const own = fleet.members.find((member) => member.slot === slot);
  if (own === undefined) return undefined;
  const equal = equalParts(fleet.members.length);
  if (own.parts > equal) return { ...own, parts: equal };
  const others = fleet.members.reduce((sum, { parts }) => sum + parts, 0) - own.parts;
  const parts = Math.min(equal, ALL_PARTS - others);
  return parts > own.parts ? { ...own, parts, from_ms: fromMs } : undefined;
}

/** The fleet with this member in place of the one of the same slot. */
export function withMember(fleet: Fleet, member: FleetMember): Fleet {
  const members = fleet.members.map((one) => (one.slot === member.slot ? member : one));
  return { ...fleet, members };
}
