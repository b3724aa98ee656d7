import type { FixedWindow } from '@gateway/shared/fixed-window';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { pino } from 'pino';
import { LeasedQuotaStore } from '../../src/quota/leased-quota-store.ts';
import type { Recall } from '../../src/quota/recall/recall.ts';
import { fixedFleet } from './fixed-fleet.ts';
import type { LedgerEntry } from '../../src/quota/ledger/ledger.ts';
import { ModelLedger, type Fate } from './model-ledger.ts';

export const WINDOW_MS = 60_000;
/** The number of the current window. */
export const WINDOW = 31_000_000;
/** A time after a quarter of the window. */
const START_MS = WINDOW_MS * WINDOW + 15_000;
export const ERROR_MS = 20;

export interface ModelStoreOptions {
  readonly limit?: number;
  readonly nodes?: number;
  readonly timeKnown?: boolean;
  /** Whether each of the nodes has a share. */
  readonly shares?: boolean;
  /** This node has all, and the others none. */
  readonly allTo?: number;
  /** Instead of asking the open nodes. */
  readonly recall?: Recall;
}

/** Quota stores with one ledger and one clock, both of which the test controls. */
export function openModelStore({
  limit = 1000,
  nodes = 1,
  timeKnown = true,
  shares = false,
  allTo,
  recall,
}: ModelStoreOptions = {}) {
  const clock = manualClock(START_MS);
  const ledger = new ModelLedger();
  let leases = 0;
  const stores = new Map<number, LeasedQuotaStore>();
  /** Nodes that are not open need nothing. */
  const recallFrom =
    (asking: number): Recall =>
    (recalled) =>
      Promise.resolve(
        recalled.from
          .filter((slot) => slot !== asking)
          .flatMap((slot) => {
            const given = stores.has(slot)
              ? stores.get(slot)?.release(recalled)
              : { keeps: 0, writes: 0, gives: 0 };
            return given === undefined ? [] : [{ slot, ...given }];
          }),
      );
  const open = (node: number) => {
    const opened = new LeasedQuotaStore({
      leaseWaited: () => undefined,
      ledger: ledger.from(node),
      clock,
      log: pino({ level: 'silent' }),
      maxCounters: 10,
      fleet: fixedFleet({ nodes, node, shares, allTo }),
      recall: recall ?? recallFrom(node),
      serverTimeOffsetMs: () => (timeKnown ? 0 : undefined),
      serverTimeErrorMs: () => ERROR_MS,
      newLeaseId: () => `lease ${(leases += 1)}`,
    });
    stores.set(node, opened);
    return opened;
  };
  const store = open(0);
  const policy = { key: 'production/orders', limit, windowMs: WINDOW_MS, per: 'route' as const };
  const take = (from = store, of = policy) => from.take(of, '', clock.nowMs());
  /** Settles the oldest pending call. */
  const next = async (fate: Fate) => {
    ledger.settle(0, fate);
    await idle();
  };
  /** Answers calls until none is pending. */
  const settle = async () => {
    do await next('answered');
    while (ledger.pending > 0);
  };
  const settled = async <Decision extends FixedWindow>(taken: Decision | Promise<Decision>) => {
    await settle();
    return taken;
  };
  return { clock, ledger, open, store, policy, take, next, settle, settled };
}

/** Resolves when all pending promises have continued. */
export const idle = () => new Promise((resolve) => setImmediate(resolve));
/** The entry that was stored last. */
export const newest = (ledger: ModelLedger): LedgerEntry | undefined => ledger.written.at(-1);
