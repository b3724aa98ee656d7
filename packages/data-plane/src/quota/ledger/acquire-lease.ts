import type { BucketBound } from '../../nats/bucket-bounds.ts';
import { ANSWER_MS } from '../../nats/kv-write.ts';
import { shareOfLimit } from '../fleet/fleet.ts';
import { isSpent, type FleetView } from '../fleet/fleet-place.ts';
import type { ReleasedBySlot } from '../recall/recall.ts';
import { nextReserves, reservedForOthers } from './entry-reserves.ts';
import { leaseSize } from './lease-size.ts';
import {
  UnusableEntryError,
  WRITE_MS,
  type LedgerEntry,
  type LedgerKey,
  type LedgerState,
  type QuotaLedger,
} from './ledger.ts';

/** What a data plane needs of one window. All counts are numbers of requests. */
export interface LeaseRequest {
  readonly key: LedgerKey;
  readonly window: number;
  /** When the window begins, by the clock of the ledger, ms. */
  readonly startMs: number;
  readonly windowMs: number;
  readonly limit: number;
  readonly nodes: number;
  readonly waiting: number;
  readonly expected: number;
  readonly fleet: FleetView;
  /** What is left of this data plane's reserve. */
  readonly reserve: number;
  /** What others have just released because this data plane asked. */
  readonly released: ReleasedBySlot;
  /** Granted from the reserve, to be settled now. */
  readonly debt: number;
  /** Leased earlier in this window, and to be returned now. */
  readonly toReturn: number;
  /**
   * Granted to all data planes in this window, as last read before the ledger was lost. A ledger that returns without
   * its data has a smaller number. 0 if the ledger was not lost.
   */
  readonly grantedBeforeLoss: number;
  /** Leases nothing: only settles the debt, and shows whether the ledger accepts writes. */
  readonly settleOnly: boolean;
}

/** Counts of one round with the ledger. */
export interface RoundTally {
  /** Writes that lost to another data plane. */
  conflicts: number;
  /** Writes that were not answered. What such a write leased may stay unused. */
  unanswered: number;
  /**
   * What this data plane still has for certain, in lease and reserve, if writes of unknown outcome were stored or still
   * will be. Infinity if there are none.
   */
  certainlyLeft: number;
}

/** A round that the ledger has answered. */
export interface LeaseAnswer {
  readonly kind: 'answered';
  /** 0 if nothing is left, or little and no need. */
  readonly size: number;
  /** Whether an entry was stored, with the debt and the reserve. */
  readonly written: boolean;
  /** The total of all data planes in the window. */
  readonly grantedToAll: number;
  /** The reserve of this data plane from now on. */
  readonly reserve: number;
  /** The reserves of the other data planes. */
  readonly reservedForOthers: number;
  readonly state: LedgerState;
  /** The revision that was known or read first. */
  readonly firstRevision: number;
}

export type LeaseOutcome =
  | LeaseAnswer
  /** The entry of the ledger cannot be used in this window. */
  | { readonly kind: 'unusable'; readonly reason: string }
  /** The ledger stores nothing now. */
  | { readonly kind: 'full'; readonly bound: BucketBound };

interface Step {
  readonly entry: LedgerEntry;
  readonly size: number;
  readonly reserve: number;
}

/** Each conflict means that another data plane got a lease. After this many the caller may start another round. */
const MAX_TRIES = 64;
const MAX_UNANSWERED = 2;
/** When less than this part of a limit is left, reserves do not grow: they would have to be asked for again. */
const GROWING_PART = 1 / 4;

/**
 * Takes a lease by compare-and-set. If the answer to a write is lost, the entry is read back and recognized by its lease
 * id; otherwise the same write is repeated. At most one of the two can follow the revision that both replace. A lease
 * that is not found again counts as granted and stays unused, so nothing is ever granted twice.
 *
 * @param known the newest state that the caller has seen, which saves a read
 * @param newId returns ids that are unique over all data planes
 * @param tally is also updated if the round fails
 * @throws if the ledger cannot be reached, or did not answer two writes
 */
export async function acquireLease(
  ledger: QuotaLedger,
  requested: LeaseRequest,
  known: LedgerState | undefined,
  newId: () => string,
  tally: RoundTally,
): Promise<LeaseOutcome> {
  let request = requested;
  let state = known ?? (await readOrReason(ledger, request.key));
  let fresh = known === undefined;
  const firstRevision = typeof state === 'string' ? 0 : state.revision;
  let id = newId();
  const answered = (
    grantedToAll: number,
    step: Step | undefined,
    at: LedgerState,
  ): LeaseOutcome => {
    // No former write can be stored after this one.
    if (step !== undefined) tally.certainlyLeft = Infinity;
    const { size = 0, reserve = request.reserve } = step ?? {};
    const { fleet, released } = request;
    return {
      kind: 'answered',
      size,
      written: step !== undefined,
      grantedToAll,
      reserve,
      reservedForOthers: reservedForOthers(reservesIn(at.entry, request), request, fleet, released),
      state: at,
      firstRevision,
    };
  };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (typeof state === 'string') return { kind: 'unusable', reason: state };
    const step = nextEntry(state.entry, request, id);
    if (typeof step === 'string' || step === undefined) {
      // The known state may be old. Only a state that was read now may refuse anything.
      if (!fresh) {
        state = await readOrReason(ledger, request.key);
        fresh = true;
        continue;
      }
      if (step !== undefined) return { kind: 'unusable', reason: step };
      return answered(grantedToAllIn(state.entry, request), undefined, state);
    }
    const { certainlyLeft } = tally;
    tally.certainlyLeft = Math.min(certainlyLeft, step.size + step.reserve);
    const result = await ledger.write(request.key, step.entry, state.revision);
    if (result.kind !== 'unknown') tally.certainlyLeft = certainlyLeft;
    if (result.kind === 'written') {
      const written = { entry: step.entry, revision: result.revision };
      return answered(step.entry.granted, step, written);
    }
    if (result.kind === 'full') return result;
    if (result.kind === 'conflict') tally.conflicts += 1;
    else tally.unanswered += 1;
    const withinMs = result.kind === 'unknown' ? ANSWER_MS - WRITE_MS : ANSWER_MS;
    const now = await readOrReason(ledger, request.key, withinMs);
    if (typeof now === 'string') return { kind: 'unusable', reason: now };
    if (now.entry?.lease === id) return answered(now.entry.granted, step, now);
    if (tally.unanswered >= MAX_UNANSWERED)
      throw new Error('quota writes were not answered in time');
    // The id may be used again only for the same entry after the same revision.
    if (now.revision !== state.revision) {
      id = newId();
      // The unanswered write may have been stored and returned this already, and another data plane leased it.
      if (tally.unanswered > 0) request = { ...request, toReturn: 0 };
    }
    state = now;
    fresh = true;
  }
  if (typeof state === 'string') return { kind: 'unusable', reason: state };
  return answered(grantedToAllIn(state.entry, request), undefined, state);
}

/** The entry that takes the lease; undefined if there is nothing to write, a text if the entry is unusable. */
function nextEntry(
  entry: LedgerEntry | undefined,
  request: LeaseRequest,
  id: string,
): Step | string | undefined {
  if (entry !== undefined && entry.window > request.window) {
    return 'the stored window is later than the current one';
  }
  const { window, fleet, released, debt, limit, windowMs } = request;
  const stored = reservesIn(entry, request);
  const before = grantedToAllIn(entry, request) - returned(entry, request) + debt;
  const left = Math.max(0, limit - before - reservedForOthers(stored, request, fleet, released));
  const size = request.settleOnly ? 0 : leaseSize({ ...request, left });
  const granted = before + size;
  const changed = granted !== storedGrant(entry, request) || size > 0 || debt > 0;
  if (!changed && !request.settleOnly) return undefined;
  const reserve = nextReserve(request, left - size, size);
  const reserves = nextReserves(stored, request, reserve, fleet, released);
  return { entry: { window, window_ms: windowMs, granted, lease: id, reserves }, size, reserve };
}

/**
 * A lease comes from the reserve first. As long as much is left of the window, a reserve that is smaller than the share of
 * that grows to it, so that a data plane that has joined in the window, or has released its reserve, has one again. No
 * reserve is larger than the share of the limit, so that no more is out of reach if the data plane is killed.
 */
function nextReserve(
  { fleet, reserve, settleOnly, limit, startMs }: LeaseRequest,
  left: number,
  leased: number,
): number {
  if (fleet.own === undefined || isSpent({ startMs }, fleet)) return 0;
  if (settleOnly) return reserve;
  const { parts } = fleet.own;
  const unused = Math.min(left, shareOfLimit(limit, parts), Math.max(0, reserve - leased));
  return left < limit * GROWING_PART ? unused : Math.max(unused, shareOfLimit(left, parts));
}

function grantedToAllIn(entry: LedgerEntry | undefined, request: LeaseRequest): number {
  return Math.max(request.grantedBeforeLoss, storedGrant(entry, request));
}

function storedGrant(entry: LedgerEntry | undefined, request: LeaseRequest): number {
  return entry?.window === request.window ? entry.granted : 0;
}

function reservesIn(
  entry: LedgerEntry | undefined,
  request: LeaseRequest,
): LedgerEntry['reserves'] {
  return entry?.window === request.window ? entry.reserves : {};
}

function returned(entry: LedgerEntry | undefined, request: LeaseRequest): number {
  return Math.min(request.toReturn, grantedToAllIn(entry, request));
}

async function readOrReason(
  ledger: QuotaLedger,
  key: LedgerKey,
  withinMs?: number,
): Promise<LedgerState | string> {
  try {
    return await ledger.read(key, withinMs);
  } catch (error) {
    if (error instanceof UnusableEntryError) return error.message;
    throw error;
  }
}
