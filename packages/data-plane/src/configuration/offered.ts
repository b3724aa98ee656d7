import type { MasterKey } from '@gateway/shared/config/master-keys';
import { repeatedEntryId } from '@gateway/shared/messaging/names';
import { openPointer } from '@gateway/shared/snapshot/codec';
import { openLogEntry } from '@gateway/shared/snapshot/log-codec';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import type { SnapshotPointer } from '@gateway/shared/snapshot/schema';

/** A snapshot that a proven pointer names. */
export interface OfferedSnapshot {
  readonly version: number;
  readonly repeats: boolean;
  /** The entry that made this version, where the snapshot repeats what deltas have made. */
  readonly entryId: string | undefined;
  readonly pointer: SnapshotPointer;
  readonly text: string;
  readonly arrivedMs: number;
}

/** A proven delta. */
export interface OfferedDelta {
  readonly from: number;
  readonly version: number;
  readonly bytes: number;
  readonly delta: Delta;
  /** As it came. */
  readonly sealed: Uint8Array;
  readonly entryId: string;
  readonly arrivedMs: number;
}

/** @throws SnapshotRefusedError */
export function proveSnapshot(
  text: string,
  environment: string,
  keys: readonly MasterKey[],
  arrivedMs: number,
): OfferedSnapshot {
  const pointer = openPointer(text, environment, keys);
  const entryId = repeatedEntryId(pointer.object);
  const repeats = entryId !== undefined;
  return { version: pointer.version, repeats, entryId, pointer, text, arrivedMs };
}

/**
 * Reads an entry of the log: a delta, or the text of a pointer, which is yet to be proven.
 *
 * @throws SnapshotRefusedError
 */
export function proveEntry(
  sealed: Uint8Array,
  environment: string,
  keys: readonly MasterKey[],
  arrivedMs: number,
): OfferedDelta | { readonly version: number; readonly pointerText: string } {
  const { entry, id } = openLogEntry(sealed, environment, keys);
  if (entry.kind === 'snapshot') return { version: entry.version, pointerText: entry.pointer };
  const { from, version } = entry;
  const bytes = sealed.length;
  return { from, version, bytes, delta: entry, sealed, entryId: id, arrivedMs };
}
