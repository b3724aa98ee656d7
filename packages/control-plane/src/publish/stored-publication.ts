import type { MasterKey } from '@gateway/shared/config/master-keys';
import { openPointer, SnapshotRefusedError } from '@gateway/shared/snapshot/signed-snapshot';
import { openLogEntry, type VerifiedEntry } from '@gateway/shared/snapshot/signed-log-entry';
import type { SnapshotPointer } from '@gateway/shared/snapshot/schema';
import type { SnapshotStore, StoredPointer, StoredTail } from './snapshot-store.ts';

/** The publication of an environment as stored in NATS, and what of it verifies. */
export interface StoredPublication {
  readonly stored: StoredPointer;
  /** Undefined if it is missing or its signature does not verify. */
  readonly pointer: SnapshotPointer | undefined;
  readonly storedTail: StoredTail;
  /** The last entry of the log; undefined as above. */
  readonly tail: VerifiedEntry | undefined;
}

/** Reads and verifies the pointer and the last log entry of an environment. */
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
    pointer: verifiedPointer(stored, environment, keys),
    storedTail,
    tail: bytes && ifVerified(() => openLogEntry(bytes, environment, keys)),
  };
}

function verifiedPointer(
  stored: StoredPointer,
  environment: string,
  keys: readonly MasterKey[],
): SnapshotPointer | undefined {
  const { text } = stored;
  return text === undefined ? undefined : ifVerified(() => openPointer(text, environment, keys));
}

function ifVerified<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof SnapshotRefusedError) return undefined;
    throw error;
  }
}

/**
 * Moves the pointer to a snapshot unless it names that version or a newer one. It only moves forward,
 * also with concurrent publishers.
 *
 * @param stored the pointer as last read
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
    const known = verifiedPointer(current, environment, keys);
    if (known !== undefined && known.version >= version) return false;
    if (await store.putPointer(environment, JSON.stringify(pointer), current.revision)) return true;
  }
}

/** Whether the snapshot of the pointer exists. */
export async function objectExists(
  store: SnapshotStore,
  pointer: SnapshotPointer | undefined,
): Promise<boolean> {
  return pointer !== undefined && (await store.hasObject(pointer.object));
}
