import type { QuotaPolicy } from '../routing-table/routing-table.ts';
import { shareOf, type WindowOfLimit } from './fleet/fleet.ts';
import { hasGrantedItsShare, isSpent, type FleetView } from './fleet/fleet-place.ts';
import { reservedForOthers } from './ledger/entry-reserves.ts';
import type { LedgerEntry, QuotaLedger } from './ledger/ledger.ts';
import type { QuotaCounter } from './counters/quota-counter.ts';
import type { QuotaDecision } from './quota-store.ts';

/** What would happen to the next request of a quota, and what the decision follows from. */
export interface QuotaView extends QuotaDecision {
  /**
   * `lease`: this data plane has a lease. `ledger`: it would take one. `others`: it would recall from the other data planes
   * what they do not need. `used_up`: nothing is left. `reserve`: there is no lease now, so it grants from its reserve.
   * `bound`: the same, because NATS stores no new quota of the subject.
   */
  readonly basis: 'lease' | 'ledger' | 'others' | 'used_up' | 'reserve' | 'bound';
  /** Granted or leased to all data planes in the window; undefined: not known now. */
  readonly grantedToAll: number | undefined;
  /** Leased by this data plane and not used. */
  readonly leased: number;
}

/** Says what would happen to the next request of a quota. Takes nothing. */
export interface QuotaViews {
  /** @param nowMs by the local wall clock */
  view(policy: QuotaPolicy, subject: string, nowMs: number): Promise<QuotaView>;
}

/** What this data plane knows besides the counter. */
export interface QuotaContext {
  /** The time by the clock of the ledger. */
  readonly serverMs: number;
  /** Whether leases are available. */
  readonly leasing: boolean;
  readonly ledger: Pick<QuotaLedger, 'read' | 'boundOf'>;
  readonly fleet: FleetView;
}

const NOTHING_RELEASED = new Map<number, never>();

/**
 * Says what would happen to the next request of a counter. The ledger is read if there is no lease.
 *
 * @param counter as it is, or as it would be made for the policy
 */
export async function viewQuota(
  counter: QuotaCounter,
  policy: QuotaPolicy,
  context: QuotaContext,
): Promise<QuotaView> {
  const { limit, windowMs } = policy;
  const { serverMs, leasing, ledger, fleet } = context;
  const startMs = Math.floor(serverMs / windowMs) * windowMs;
  const window: WindowOfLimit = { limit, startMs };
  const current = counter.startMs === startMs && counter.follows(policy) ? counter : undefined;
  const view = (basis: QuotaView['basis'], left: number, grantedToAll?: number): QuotaView => ({
    basis,
    granted: left > 0,
    limit,
    remaining: Math.max(0, left - 1),
    resetSeconds: Math.max(1, Math.ceil((startMs + windowMs - serverMs) / 1000)),
    grantedToAll,
    leased: current?.leased ?? 0,
  });
  if (current?.usedUp === true) return view('used_up', 0, current.grantedToAll);
  if (current !== undefined && current.leased > 0) {
    return view('lease', remainingOf(current), current.grantedToAll);
  }
  const entry =
    leasing && (current?.isReserveOnly(serverMs) !== true || current.bound !== undefined)
      ? await ledger.read(counter.key).catch(() => undefined)
      : undefined;
  const bound = entry?.revision === 0 ? ledger.boundOf(counter.key) : undefined;
  if (entry === undefined || bound !== undefined) {
    const alone = fromReserve(current, policy, window, fleet, view);
    return bound === undefined ? alone : { ...alone, basis: 'bound', bound };
  }
  const { granted, reserves } = inWindow(entry.entry, startMs / windowMs);
  const left = limit - granted - (current?.debt ?? 0);
  if (left <= 0) return view('used_up', 0, granted);
  const isOurs = left > reservedForOthers(reserves, window, fleet, NOTHING_RELEASED);
  return isOurs ? view('ledger', left, granted) : view('others', 0, granted);
}

/** What is left of the window as far as this data plane knows. It may be less if others hold leases. */
export function remainingOf(counter: QuotaCounter): number {
  const { limit, grantedToAll: granted, debt, leased: unused } = counter;
  return Math.max(0, limit - granted - debt + unused);
}

function inWindow(
  entry: LedgerEntry | undefined,
  window: number,
): Pick<LedgerEntry, 'granted' | 'reserves'> {
  return entry?.window === window ? entry : { granted: 0, reserves: {} };
}

/** Without a lease, this data plane grants from its reserve. */
function fromReserve(
  current: QuotaCounter | undefined,
  policy: QuotaPolicy,
  window: WindowOfLimit,
  fleet: FleetView,
  view: (basis: 'reserve', left: number) => QuotaView,
): QuotaView {
  const { own } = fleet;
  const share = own === undefined || isSpent(window, fleet) ? 0 : shareOf(own, window);
  const left = current?.reserve.isKnown === true ? current.reserve.left : share;
  const { limit } = policy;
  const isSpentHere = hasGrantedItsShare({ grantedHere: current?.grantedHere ?? 0, limit }, fleet);
  if (policy.refuseWithoutStore === true || (left === 0 && !isSpentHere)) {
    return { ...view('reserve', 0), unavailable: true };
  }
  return view('reserve', left);
}
