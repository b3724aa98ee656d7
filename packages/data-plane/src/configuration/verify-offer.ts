import type { MasterKey } from '@gateway/shared/config/master-keys';
import { entryIdOfSnapshot } from '@gateway/shared/messaging/names';
import { openPointer } from '@gateway/shared/snapshot/signed-snapshot';
import { openLogEntry } from '@gateway/shared/snapshot/signed-log-entry';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import type { SnapshotPointer } from '@gateway/shared/snapshot/schema';
import type { ChainDelta, ChainSnapshot } from './version-chain.ts';

/** A snapshot whose pointer was verified. */
export interface OfferedSnapshot extends ChainSnapshot {
  readonly pointer: SnapshotPointer;
  /** The pointer as it arrived. */
  readonly text: string;
  readonly arrivedMs: number;
}

/** A verified delta. */
export interface OfferedDelta extends ChainDelta {
  readonly delta: Delta;
  /** The entry as it arrived. */
  readonly sealed: Uint8Array;
  readonly arrivedMs: number;
}

/** @throws SnapshotRefusedError */
export function verifyPointer(
  text: string,
  environment: string,
  keys: readonly MasterKey[],
  arrivedMs: number,
): OfferedSnapshot {
  const pointer = openPointer(text, environment, keys);
  const { version, sha256, object } = pointer;
  return { version, sha256, entryId: entryIdOfSnapshot(object), pointer, text, arrivedMs };
}

/**
 * Verifies an entry of the log. Of a snapshot's entry only the version counts: its pointer arrives from the
 * bucket of pointers.
 *
 * @throws SnapshotRefusedError
 */
export function verifyEntry(
  sealed: Uint8Array,
  environment: string,
  keys: readonly MasterKey[],
  arrivedMs: number,
): OfferedDelta | { readonly announced: number } {
  const { entry, id } = openLogEntry(sealed, environment, keys);
  if (entry.kind === 'snapshot') return { announced: entry.version };
  const { from, version } = entry;
  const bytes = sealed.length;
  return { from, version, bytes, delta: entry, sealed, entryId: id, arrivedMs };
}
