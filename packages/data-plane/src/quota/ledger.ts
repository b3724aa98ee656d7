import { formatField } from '@gateway/shared/formats';
import { z } from 'zod';
import type { BucketBound, EntryOwner } from '../nats/bucket-bounds.ts';
import type { HeldEntry } from '../nats/held-bytes.ts';

/** The format of a stored entry. */
const QUOTA_ENTRY_FORMAT = 1;

const reserveSchema = z.object({
  requests: z.int().min(0),
  /** How often the member has stored its reserve of this window, so that a former one is told from a later one. */
  writes: z.int().min(0),
  /** The `from_ms` of the member's share when this was stored. As long as it is the same, the share has not grown. */
  from_ms: z.number().optional(),
});

/** What a member of the fleet keeps back for itself. */
export type Reserve = Readonly<z.infer<typeof reserveSchema>>;

const storedEntrySchema = z.object({
  format: formatField(QUOTA_ENTRY_FORMAT),
  /** The number of the window since the Unix epoch, by the clock of the ledger. Never decreases. */
  window: z.int().min(0),
  window_ms: z.int().min(1),
  granted: z.int().min(0),
  /** The id of the write that stored this entry, by which its author recognizes it. */
  lease: z.string().max(64),
  /** What members of the fleet keep back of the window, by slot. A member without a reserve keeps back its share. */
  reserves: z.record(z.string(), reserveSchema).default({}),
});

/**
 * The entry of the ledger for one policy and subject: how much of the newest window is granted to all data planes
 * together, and what is kept back for single ones. `granted` only grows within a window, except when a data plane gives
 * back an unused lease. The reserve of a data plane is written by itself, or by one to which it has given it up.
 */
export type LedgerEntry = Readonly<Omit<z.infer<typeof storedEntrySchema>, 'format'>>;

/** The stored form of an entry. */
export function encodeEntry(entry: LedgerEntry): string {
  return JSON.stringify({ format: QUOTA_ENTRY_FORMAT, ...entry });
}

/**
 * Parses a stored entry.
 *
 * @throws UnusableEntryError
 */
export function decodeEntry(value: Uint8Array): LedgerEntry {
  try {
    const text = Buffer.from(value).toString('utf8');
    const { window, window_ms, granted, lease, reserves } = storedEntrySchema.parse(
      JSON.parse(text),
    );
    return { window, window_ms, granted, lease, reserves };
  } catch (cause) {
    throw new UnusableEntryError('the stored quota entry is malformed or has an unknown format', {
      cause,
    });
  }
}

/** The entry of a key at one time; `entry` is undefined if there is none. */
export interface LedgerState {
  readonly entry: LedgerEntry | undefined;
  /** Identifies this state of the key. A write states the revision that it replaces. */
  readonly revision: number;
}

export type WriteResult =
  /** The entry is stored. */
  | { readonly kind: 'written'; readonly revision: number }
  /** Another write came first; this one is not stored and never will be. */
  | { readonly kind: 'conflict' }
  /** No answer came: it may be stored, now or later. */
  | { readonly kind: 'unknown' }
  /** The ledger stores nothing more: it is full, or has no entry of this key and accepts no new one. */
  | { readonly kind: 'full'; readonly bound: BucketBound };

/** A hash, so that keys spread evenly, and the length of the key's windows. */
export interface LedgerKey extends HeldEntry {
  /** Lower-case hex. */
  readonly hash: string;
  readonly windowMs: number;
  /** Whose entries are bounded together; undefined: a new entry is always accepted. */
  readonly owner?: EntryOwner | undefined;
}

/** A ledger that does not answer within this time counts as unreachable, for reads and writes. */
export const ANSWER_MS = 1000;
/** The part of that time for a write; the rest is for reading it back. */
export const WRITE_MS = 500;

/**
 * Stores what is granted to all data planes: one entry for each key, changed by compare-and-set. Each call has its own
 * deadline and rejects if the ledger cannot be reached.
 */
export interface QuotaLedger {
  /** Whether the ledger is connected, without sending anything to it. */
  readonly reachable: boolean;
  /** How often the connection was lost. What was read before a loss may not be stored any more. */
  readonly losses: number;
  /**
   * Reads the entry of a key.
   *
   * @param withinMs at most `ANSWER_MS`, the default
   * @throws UnusableEntryError
   */
  read(key: LedgerKey, withinMs?: number): Promise<LedgerState>;
  /** The bound at which a new entry of the key would be refused now; undefined: it would be stored. */
  boundOf(key: LedgerKey): BucketBound | undefined;
  /** The key will not be used again. If its entry is written again, it has another key. */
  forget(key: LedgerKey): void;
  /** Stores the entry if the key is still at this revision; 0 for a key without an entry. */
  write(key: LedgerKey, entry: LedgerEntry, revision: number): Promise<WriteResult>;
}

/** The stored value is not an entry of this format, so nothing can be granted from it. */
export class UnusableEntryError extends Error {
  override readonly name = 'UnusableEntryError';
}
