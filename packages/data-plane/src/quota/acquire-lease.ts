import { leaseSize } from './lease-size.ts';
import {
  ANSWER_MS,
  UnusableEntryError,
  WRITE_MS,
  type LedgerEntry,
  type LedgerKey,
  type LedgerState,
  type QuotaLedger,
} from './ledger.ts';

/** What a data plane asks of one window. Counts are requests. */
export interface LeaseAsk {
  readonly key: LedgerKey;
  readonly window: number;
  readonly limit: number;
  readonly nodes: number;
  readonly waiting: number;
  readonly expected: number;
  /** Taken without the ledger, to be told to it now. */
  readonly debt: number;
  /** Leased before in this window, and neither used nor kept. */
  readonly giveBack: number;
  /**
   * Granted to all in this window, as the ledger told before it was lost: one that comes back without its
   * data says less. 0 where it was there all the time.
   */
  readonly atLeast: number;
  /** Leaves the size at 0: only tells the debt, and finds out whether the ledger takes writes. */
  readonly chargeOnly: boolean;
}

/** What came between the writes of one round and their answers. */
export interface RoundTally {
  /** Writes before which another data plane came. */
  conflicts: number;
  /** Writes without an answer: what one of them leased may be granted to nobody. */
  unanswered: number;
}

export type LeaseOutcome =
  /** `granted` is what all have of the window now; size 0 where nothing is left, or little and no need. */
  | {
      readonly kind: 'settled';
      readonly size: number;
      readonly charged: number;
      readonly granted: number;
      readonly state: LedgerState;
      /** The revision that was read or known at first. */
      readonly begunAt: number;
    }
  /** The ledger is at a later window than this data plane, or cannot hold this key. */
  | { readonly kind: 'unusable'; readonly reason: string };

interface Step {
  readonly entry: LedgerEntry;
  readonly size: number;
  readonly charged: number;
}

/** Another that came first was granted something; past so many it is for the caller to ask again. */
const MAX_TRIES = 64;
const MAX_UNANSWERED = 2;

/**
 * Takes a lease by compare-and-set. A write whose answer is lost is read back by its lease id, and
 * repeated in the same words: at most one of the copies can come after the revision that both name. One
 * that cannot be found again counts as granted to nobody, so nothing is ever granted twice.
 *
 * @param known the newest state that the caller has seen, to spare a read
 * @param newId gives ids that no other data plane gives
 * @param tally counts on, whatever comes of the round
 * @throws where the ledger cannot be asked, or left two writes unanswered
 */
export async function acquireLease(
  ledger: QuotaLedger,
  asked: LeaseAsk,
  known: LedgerState | undefined,
  newId: () => string,
  tally: RoundTally,
): Promise<LeaseOutcome> {
  let ask = asked;
  let state = known ?? (await readOrReason(ledger, ask.key));
  let fresh = known === undefined;
  const begunAt = typeof state === 'string' ? 0 : state.revision;
  let id = newId();
  const settled = (granted: number, step: Step | undefined, at: LedgerState): LeaseOutcome => {
    const { size = 0, charged = 0 } = step ?? {};
    return { kind: 'settled', size, charged, granted, state: at, begunAt };
  };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (typeof state === 'string') return { kind: 'unusable', reason: state };
    const step = nextEntry(state.entry, ask, id);
    if (typeof step === 'string' || step === undefined) {
      // What was seen before may be old; only the ledger's own word refuses anything.
      if (!fresh) {
        state = await readOrReason(ledger, ask.key);
        fresh = true;
        continue;
      }
      if (step !== undefined) return { kind: 'unusable', reason: step };
      return settled(grantedIn(state.entry, ask), undefined, state);
    }
    const result = await ledger.write(ask.key, step.entry, state.revision);
    if (result.kind === 'written') {
      const written = { entry: step.entry, revision: result.revision };
      return settled(step.entry.granted, step, written);
    }
    if (result.kind === 'full') {
      return { kind: 'unusable', reason: 'there is no room for the key' };
    }
    if (result.kind === 'conflict') tally.conflicts += 1;
    else tally.unanswered += 1;
    const withinMs = result.kind === 'unknown' ? ANSWER_MS - WRITE_MS : ANSWER_MS;
    const now = await readOrReason(ledger, ask.key, withinMs);
    if (typeof now === 'string') return { kind: 'unusable', reason: now };
    if (now.entry?.lease === id) return settled(now.entry.granted, step, now);
    if (tally.unanswered >= MAX_UNANSWERED)
      throw new Error('the store of quotas does not answer to writes');
    // The same id again only where the same entry goes after the same revision.
    if (now.revision !== state.revision) {
      id = newId();
      // Another lease may stand upon an unanswered write that gave this back already.
      if (tally.unanswered > 0) ask = { ...ask, giveBack: 0 };
    }
    state = now;
    fresh = true;
  }
  if (typeof state === 'string') return { kind: 'unusable', reason: state };
  return settled(grantedIn(state.entry, ask), undefined, state);
}

/** The entry that asks for the lease; undefined where nothing is to be had, a text where none can be. */
function nextEntry(
  entry: LedgerEntry | undefined,
  ask: LeaseAsk,
  id: string,
): Step | string | undefined {
  if (entry !== undefined && entry.window > ask.window) return 'the store is at a later window';
  const before = grantedIn(entry, ask) - givenBack(entry, ask);
  const left = Math.max(0, ask.limit - before);
  const charged = Math.min(ask.debt, left);
  const size = ask.chargeOnly ? 0 : leaseSize({ ...ask, left: left - charged });
  const granted = before + charged + size;
  const changed = granted !== toldBy(entry, ask) || size > 0 || charged > 0;
  if (!changed && !ask.chargeOnly) return undefined;
  return {
    entry: { window: ask.window, window_ms: ask.key.windowMs, granted, lease: id },
    size,
    charged,
  };
}

function grantedIn(entry: LedgerEntry | undefined, ask: LeaseAsk): number {
  return Math.max(ask.atLeast, toldBy(entry, ask));
}

function toldBy(entry: LedgerEntry | undefined, ask: LeaseAsk): number {
  return entry?.window === ask.window ? entry.granted : 0;
}

function givenBack(entry: LedgerEntry | undefined, ask: LeaseAsk): number {
  return Math.min(ask.giveBack, grantedIn(entry, ask));
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
