import type { Clock } from '@gateway/shared/clock';
import { manualClock } from '@gateway/shared/test/manual-clock';
import fc from 'fast-check';
import { pino } from 'pino';
import { ALL_PARTS } from '../../src/quota/fleet/fleet.ts';
import { FleetMembership } from '../../src/quota/fleet/fleet-membership.ts';
import type { SavedPlace } from '../../src/quota/fleet/saved-place.ts';
import { LeasedQuotaStore } from '../../src/quota/leased-quota-store.ts';
import type { RecallAnswer, RecallRequest } from '../../src/quota/recall/recall.ts';
import { ModelLedger, type Fate } from './model-ledger.ts';

/** In the middle of a window, whatever its length. */
const START_MS = 86_400_000 * 21_990 + 43_200_000 + 400;
/** The error that the nodes allow for. */
const MAX_SKEW_MS = 20;
/** A member that takes all shares, which never hold: so no other has one. */
const GREEDY = { id: 'greedy', parts: ALL_PARTS, from_ms: Infinity };
const log = pino({ level: 'silent' });

export interface QuotaWorld {
  readonly nodes: number;
  /** Whether each node has a share. */
  readonly shares: boolean;
  readonly limit: number;
  readonly windowMs: number;
  /** The error of each node's estimate of the time of the ledger, ms; at most `MAX_SKEW_MS`. */
  readonly skewsMs: readonly number[];
  readonly steps: readonly Step[];
}

export type Step =
  | { readonly kind: 'take'; readonly node: number; readonly count: number }
  | { readonly kind: 'settle'; readonly index: number; readonly fate: Fate }
  /** Answers the pending calls, in their order, until there is none. */
  | { readonly kind: 'settle_all' }
  | { readonly kind: 'advance'; readonly ms: number }
  /** Time passes while all calls are answered. */
  | { readonly kind: 'pass'; readonly seconds: number }
  | { readonly kind: 'late' }
  | { readonly kind: 'limit'; readonly limit: number }
  /** The ledger accepts no new entries, or accepts them again. */
  | { readonly kind: 'full'; readonly full: boolean }
  /** The process is killed, and none starts again. */
  | { readonly kind: 'kill'; readonly node: number }
  /** The process is killed and starts again, with its data folder or without; or it stops in an orderly way before. */
  | {
      readonly kind: 'restart';
      readonly node: number;
      readonly folder: boolean;
      readonly orderly?: boolean;
    }
  /** The process answers its last request and begins to leave the fleet. A restart may follow. */
  | { readonly kind: 'stop'; readonly node: number }
  /** One node, or all of them, lose the connection to the ledger, or have it again. */
  | { readonly kind: 'cut_off' | 'reconnect'; readonly node: number | 'all' };

/** Resolves when all pending promises have continued. Work of the nodes between their calls takes no time. */
const idle = () => new Promise((resolve) => setImmediate(resolve));

interface Node {
  /** The process: a restarted one has another number. */
  readonly process: number;
  readonly store: LeasedQuotaStore;
  readonly membership: FleetMembership;
  readonly clock: Clock;
  readonly living: { alive: boolean; stopping?: boolean };
}

/**
 * Runs the steps with real quota stores and memberships on a modelled ledger.
 *
 * @returns the grants in each window by the true time of the ledger, and the largest limit of each
 */
export async function play({ nodes, shares, limit, windowMs, skewsMs, steps }: QuotaWorld) {
  const clock = manualClock(START_MS);
  const ledger = new ModelLedger();
  const granted = new Map<number, number>();
  const limits = new Map<number, number>();
  const saved = new Map<number, SavedPlace | undefined>();
  let policy = { key: 'production/orders', limit, windowMs, per: 'route' as const };
  let leases = 0;
  let processes = 0;
  const windowNow = () => Math.floor(clock.nowMs() / windowMs);
  const running: Node[] = [];

  const answersTo =
    (asking: () => Node | undefined) =>
    (recalled: RecallRequest): RecallAnswer[] =>
      running
        .filter((node) => node !== asking() && !ledger.isAway(node.process))
        .flatMap(({ store, membership }) => {
          const slot = membership.view.own?.slot;
          const given = slot === undefined ? undefined : store.release(recalled);
          return slot === undefined || given === undefined ? [] : [{ slot, ...given }];
        });
  const isHeard = ({ living, process }: Node) => living.alive && !ledger.isAway(process);
  const open = (index: number): Node => {
    processes += 1;
    const own = processes;
    const skewed: Clock = { ...clock, nowMs: () => clock.nowMs() + (skewsMs[index] ?? 0) };
    const kept = saved.get(index);
    const living = { alive: true };
    const membership = new FleetMembership({
      store: ledger.fleetFrom(own),
      id: `dp-${index}`,
      clock: skewed,
      log,
      serverMs: () => skewed.nowMs(),
      timeKnown: () => true,
      isLive: (id) =>
        id === GREEDY.id || running.some((node, at) => `dp-${at}` === id && isHeard(node)),
      saved: kept,
      save: (place) => {
        // A process that was killed writes nothing any more.
        if (living.alive) saved.set(index, place);
      },
    });
    const store = new LeasedQuotaStore({
      leaseWaited: () => undefined,
      ledger: ledger.from(own),
      fleet: membership,
      recall: ledger.recallFrom(
        own,
        answersTo(() => node),
      ),
      clock: skewed,
      log,
      maxCounters: 10,
      leftovers: kept?.leftovers,
      serverTimeOffsetMs: () => 0,
      serverTimeErrorMs: () => MAX_SKEW_MS,
      newLeaseId: () => `lease ${(leases += 1)}`,
    });
    membership.start(store);
    const node: Node = { process: own, store, membership, clock: skewed, living };
    return node;
  };
  const take = async (node: Node) => {
    const window = await node.store.take(policy, '', node.clock.nowMs());
    if (window.remaining < 0) throw new Error('a negative number is left');
    // A dead node answers no request, although its promises still settle here.
    if (!node.living.alive || node.living.stopping || !window.granted) return;
    const now = windowNow();
    granted.set(now, (granted.get(now) ?? 0) + 1);
    limits.set(now, Math.max(limits.get(now) ?? 0, window.limit));
  };
  const settleAll = async () => {
    for (let rounds = 0; rounds < 100 && ledger.pending > 0; rounds += 1) {
      ledger.settle(0, 'answered');
      await idle();
    }
  };
  const advance = async (ms: number) => {
    // In small parts, so that no node grants by an outdated time.
    for (let leftMs = ms; leftMs > 0; leftMs -= 5) {
      clock.advance(Math.min(5, leftMs));
      await idle();
    }
  };
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < 10 * seconds; passed += 1) {
      clock.advance(100);
      await idle();
      await settleAll();
    }
  };
  const kill = (dead: Node) => {
    ledger.kill(dead.process);
    dead.living.alive = false;
  };
  const stop = ({ membership, living }: Node) => {
    if (living.stopping === true || !living.alive) return;
    living.stopping = true;
    void membership.leave();
  };
  const restart = (index: number, folder: boolean, orderly: boolean) => {
    const dead = running[index];
    if (dead === undefined) return;
    if (orderly) stop(dead);
    const away = ledger.isAway(dead.process);
    kill(dead);
    if (!folder) saved.set(index, undefined);
    const node = open(index);
    if (away) ledger.cutOff(node.process);
    running[index] = node;
  };
  const each = (node: number | 'all'): readonly Node[] => {
    const one = node === 'all' ? undefined : running[node % nodes];
    return one === undefined ? running : [one];
  };

  const parts = shares ? Math.floor(ALL_PARTS / nodes) : 0;
  const slots = [...Array(nodes).keys()];
  const members = slots.map((slot) => ({ slot, id: `dp-${slot}`, parts, from_ms: 1 }));
  ledger.startWith(shares ? members : [...members, { ...GREEDY, slot: nodes }]);
  // The former process of each has stopped in an orderly way, and left all of its reserves.
  const place = { parts, from_ms: 1, usable_from_ms: 1, owes: false, leftovers: [] };
  for (const slot of slots) saved.set(slot, { slot, ...place });
  for (const slot of slots) running.push(open(slot));
  await settleAll();

  for (const one of steps) {
    if (one.kind === 'take') {
      const node = running[one.node % nodes];
      for (let count = 0; node !== undefined && count < one.count; count += 1) void take(node);
    } else if (one.kind === 'settle') ledger.settle(one.index, one.fate);
    else if (one.kind === 'settle_all') await settleAll();
    else if (one.kind === 'late') ledger.arriveLate();
    else if (one.kind === 'full') ledger.full = one.full;
    else if (one.kind === 'limit') policy = { ...policy, limit: one.limit };
    else if (one.kind === 'restart') restart(one.node % nodes, one.folder, one.orderly === true);
    else if (one.kind === 'advance') await advance(one.ms);
    else if (one.kind === 'pass') await pass(one.seconds);
    else if (one.kind === 'kill') each(one.node).forEach(kill);
    else if (one.kind === 'stop') each(one.node).forEach(stop);
    else {
      for (const { process } of each(one.node)) {
        if (one.kind === 'cut_off') ledger.cutOff(process);
        else ledger.reconnect(process);
      }
    }
    await idle();
  }
  return { granted, limits, ledger, running };
}

/** Any world of these steps, with 1 to 5 nodes. */
export function worlds(step: fc.Arbitrary<Step>, shares = true): fc.Arbitrary<QuotaWorld> {
  const skew = fc.integer({ min: -MAX_SKEW_MS, max: MAX_SKEW_MS });
  return fc.record({
    nodes: fc.integer({ min: 1, max: 5 }),
    shares: fc.constant(shares),
    limit: fc.integer({ min: 1, max: 30 }),
    windowMs: fc.constantFrom(1000, 60_000, 86_400_000),
    skewsMs: fc.array(skew, { minLength: 5, maxLength: 5 }),
    steps: fc.array(step, { maxLength: 120, size: 'max' }),
  });
}
