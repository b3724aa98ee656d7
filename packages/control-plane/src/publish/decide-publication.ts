import { repeatedEntryId } from '@gateway/shared/messaging/names';
import type { VerifiedEntry } from '@gateway/shared/snapshot/log-codec';
import type { SnapshotPointer } from '@gateway/shared/snapshot/schema';

export interface PublicationState {
  /** Changes that nothing published holds yet. */
  readonly pendingChanges: number;
  /** The version that Postgres knows as published; 0 before the first. */
  readonly configVersion: number;
  /** The proven pointer in the store; undefined where it is missing or does not verify. */
  readonly pointer: SnapshotPointer | undefined;
  /** The proven last entry of the log; undefined where it is missing or does not verify. */
  readonly tail: VerifiedEntry | undefined;
  /** Whether the object that the pointer names is there. */
  readonly objectExists: boolean;
  /** Whether what is published is what this version of the control plane makes of the rows, or nobody looked. */
  readonly compiledAlike: boolean;
  /** The key that all must be signed with; undefined where any known key will do. */
  readonly wantedKeyId: string | undefined;
}

export type PublicationReason =
  | 'changed'
  | 'pointer_missing'
  | 'log_missing'
  | 'version_differs'
  | 'object_missing'
  | 'key_replaced'
  | 'compiled_otherwise';

export type PublicationDecision =
  | { readonly publish: false }
  | {
      readonly publish: true;
      /** A delta leads on from what is published; a snapshot does not need it. */
      readonly form: 'delta' | 'snapshot';
      readonly why: PublicationReason;
      readonly version: number;
    };

/**
 * Whether an environment is to be published, how, and as which version: one above whatever Postgres or
 * the store has seen, so that versions go on counting up when either was restored or emptied.
 */
export function decidePublication(state: PublicationState): PublicationDecision {
  const fault = faultOf(state);
  const changed = state.pendingChanges > 0;
  if (fault === undefined && !changed) return { publish: false };
  const { configVersion, pointer, tail } = state;
  const newest = Math.max(configVersion, pointer?.version ?? 0, tail?.entry.version ?? 0);
  return {
    publish: true,
    form: fault === undefined ? 'delta' : 'snapshot',
    why: changed ? 'changed' : (fault ?? 'changed'),
    version: newest + 1,
  };
}

/** Why what is published cannot be led on from. */
function faultOf(state: PublicationState): PublicationReason | undefined {
  const { pointer, tail, wantedKeyId } = state;
  if (pointer === undefined) return 'pointer_missing';
  if (tail === undefined) return 'log_missing';
  // Unequal in either direction means that a crash or a restore parted them.
  if (tail.entry.version !== state.configVersion) return 'version_differs';
  if (!leadsTo(pointer, tail)) return 'version_differs';
  if (!state.objectExists) return 'object_missing';
  if (wantedKeyId !== undefined && (pointer.key_id !== wantedKeyId || tail.keyId !== wantedKeyId)) {
    return 'key_replaced';
  }
  // An upgrade may have changed what data planes are to be told, or how.
  if (!state.compiledAlike) return 'compiled_otherwise';
  return undefined;
}

/**
 * Whether the snapshot, and the deltas after it, make the version of the log's last entry. A control
 * plane of the version before this one moves the pointer without an entry.
 */
function leadsTo(pointer: SnapshotPointer, { entry, id }: VerifiedEntry): boolean {
  if (entry.kind === 'snapshot') {
    return pointer.version === entry.version && pointer.signature === entry.pointer_signature;
  }
  if (pointer.version === entry.since.snapshot) return true;
  const repeated = repeatedEntryId(pointer.object);
  if (pointer.version === entry.version) return repeated === id;
  return (
    repeated !== undefined &&
    pointer.version > entry.since.snapshot &&
    pointer.version < entry.version
  );
}
