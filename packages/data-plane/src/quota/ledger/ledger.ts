import { formatField } from '@gateway/shared/formats';
import { z } from 'zod';
import type { BucketBound, EntryOwner } from '../../nats/bucket-bounds.ts';
import type { HeldEntry } from '../../nats/held-bytes.ts';
import type { WriteResult } from '../../nats/kv-write.ts';

/** The format of a stored entry. */
const QUOTA_ENTRY_FORMAT = 1;

const reserveSchema = z.object({
  requests: z.int().min(0),
  /** How often the member has stored its reserve of this window, so that a former one is told from a later one. */
  writes: z.int().min(0),
  /** The `from_ms` of the member's share when this was stored. As long as it is the same, the share has not grown. */
  from_ms: z.number().optional(),
});

/** What is reserved of a window for one member of the fleet. */
export type Reserve = Readonly<z.infer<typeof reserveSchema>>;

const storedEntrySchema = z.object({
  format: formatField(QUOTA_ENTRY_FORMAT),
  /** The number of the window since the Unix epoch, by the clock of the ledger. Never decreases. */
  window: z.int().min(0),
  window_ms: z.int().min(1),
  granted: z.int().min(0),
  /** The id of the write that stored this entry, by which its author recognizes it. */
  lease: z.string().max(64),
  /** The reserves of members of the fleet, by slot. A member that has stored none has its share. */
  reserves: z.record(z.string(), reserveSchema).default({}),
});

/**
 * The entry of the ledger for one policy and subject: how much of the newest window is granted to all data planes
 * together, and what is reserved for single ones. `granted` contains all leases and settled debts: it only grows within a
 * window, except when a data plane returns a lease. The reserve of a data plane is written by itself, or by one for which
 * it was released.
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

/** A hash, so that keys spread evenly, and the length of the key's windows. */
export interface LedgerKey extends HeldEntry {
  /** Lower-case hex. */
  readonly hash: string;
  readonly windowMs: number;
  /** Whose entries are bounded together; undefined: a new entry is always accepted. */
  readonly owner?: EntryOwner | undefined;
}

/** The part of `ANSWER_MS` for a write; the rest is for reading it back. */
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
