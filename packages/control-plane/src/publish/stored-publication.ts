import type { MasterKey } from '@gateway/shared/config/master-keys';
import { openPointer, SnapshotRefusedError } from '@gateway/shared/snapshot/codec';
import { openLogEntry, type VerifiedEntry } from '@gateway/shared/snapshot/log-codec';
import type { SnapshotPointer } from '@gateway/shared/snapshot/schema';
import type { SnapshotStore, StoredPointer, StoredTail } from './snapshot-store.ts';

/** What the store holds of an environment, and what of it is proven. */
export interface StoredPublication {
  readonly stored: StoredPointer;
  /** The pointer if a master key proves it; one that does not verify counts as missing. */
  readonly pointer: SnapshotPointer | undefined;
  readonly storedTail: StoredTail;
  /** The log's last entry, likewise. */
  readonly tail: VerifiedEntry | undefined;
}

export async function readPublication(
  store: SnapshotStore,
  environment: string,
  keys: readonly MasterKey[],
): Promise<StoredPublication> {
  const [stored, storedTail] = await Promise.all([
    store.readPointer(environment),
    store.readTail(environment),
  ]);
  const { bytes } = storedTail;
  return {
    stored,
    pointer: provenPointer(stored, environment, keys),
    storedTail,
    tail: bytes && ifProven(() => openLogEntry(bytes, environment, keys)),
  };
}

export function provenPointer(
  stored: StoredPointer,
  environment: string,
  keys: readonly MasterKey[],
): SnapshotPointer | undefined {
  const { text } = stored;
  return text === undefined ? undefined : ifProven(() => openPointer(text, environment, keys));
}

function ifProven<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof SnapshotRefusedError) return undefined;
    throw error;
  }
}

/**
 * Points to a snapshot, unless the pointer names one of its version or a newer one already: forward
 * only, whoever else moves it meanwhile.
 *
 * @param stored as it was when it was last read
 * @returns whether it was moved
 */
export async function movePointer(
  store: SnapshotStore,
  pointer: SnapshotPointer,
  keys: readonly MasterKey[],
  stored: StoredPointer,
): Promise<boolean> {
  const { environment, version } = pointer;
  for (let current = stored; ; current = await store.readPointer(environment)) {
    const known = provenPointer(current, environment, keys);
    if (known !== undefined && known.version >= version) return false;
    if (await store.putPointer(environment, JSON.stringify(pointer), current.revision)) return true;
  }
}

export async function objectExists(
  store: SnapshotStore,
  pointer: SnapshotPointer | undefined,
): Promise<boolean> {
  return pointer !== undefined && (await store.hasObject(pointer.object));
}
