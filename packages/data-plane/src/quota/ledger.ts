import { z } from 'zod';

/**
 * What the ledger holds for one policy and subject: how much of the newest window was granted, to
 * whichever data plane. Only raised within a window, except by who gives back what it did not use.
 */
export const ledgerEntrySchema = z.object({
  /** Windows since the Unix epoch by the ledger's clock. Never goes back. */
  window: z.int().min(0),
  window_ms: z.int().min(1),
  granted: z.int().min(0),
  /** Id of the write that made this entry, by which its author knows it again. */
  lease: z.string().max(64),
});

export type LedgerEntry = Readonly<z.infer<typeof ledgerEntrySchema>>;

/** An entry at one time; `entry` is undefined where there is none. */
export interface LedgerState {
  readonly entry: LedgerEntry | undefined;
  /** Names this state of the key: what a write states to come after. */
  readonly revision: number;
}

export type WriteResult =
  /** The entry is stored. */
  | { readonly kind: 'written'; readonly revision: number }
  /** Another write came first; this one is not stored and never will be. */
  | { readonly kind: 'conflict' }
  /** No answer came: it may be stored, now or later. */
  | { readonly kind: 'unknown' }
  /** The ledger has no room for this key. */
  | { readonly kind: 'full' };

/** A key that is spread over all keys alike, and the length of its windows. */
export interface LedgerKey {
  /** Lower-case hex. */
  readonly hash: string;
  readonly windowMs: number;
}

/**
 * A ledger that gives no answer for so long is away, whatever it was asked: data planes that ask different
 * things must not come to think so at different times, as one that leases and one that grants its share can
 * pass a limit together (docs/adr/0009).
 */
export const ANSWER_MS = 1000;
/** Of that, the time for a write; the rest is for finding out what became of it. */
export const WRITE_MS = 500;

/**
 * Where all data planes agree on what was granted: one entry for each key, changed by compare-and-set.
 * Each call has a deadline of its own and rejects where the ledger cannot be asked.
 */
export interface QuotaLedger {
  /** Whether it is worth asking. */
  readonly reachable: boolean;
  /** Counts the times that the ledger was lost: what was read before may be of another one. */
  readonly epoch: number;
  /**
   * @param withinMs at most `ANSWER_MS`, which it is unless given
   * @throws UnusableEntryError where what is stored is no entry.
   */
  read(key: LedgerKey, withinMs?: number): Promise<LedgerState>;
  /** Stores the entry if the key is still at that revision, 0 for a key without an entry. */
  write(key: LedgerKey, entry: LedgerEntry, revision: number): Promise<WriteResult>;
}

/** What is stored under a key is no entry: nothing can be granted by it. */
export class UnusableEntryError extends Error {}
