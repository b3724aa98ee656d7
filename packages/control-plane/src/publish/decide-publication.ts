import { entryIdOfSnapshot } from '@gateway/shared/messaging/names';
import type { VerifiedEntry } from '@gateway/shared/snapshot/signed-log-entry';
import type { SnapshotPointer } from '@gateway/shared/snapshot/schema';

export interface PublicationState {
  /** Changes that are not published yet. */
  readonly pendingChanges: number;
  /** The published version according to Postgres; 0 before the first. */
  readonly configVersion: number;
  /** The newest version that a live data plane reports, read before `tail`; 0 if none does. */
  readonly servedVersion: number;
  /** Undefined if it is missing or does not verify. */
  readonly pointer: SnapshotPointer | undefined;
  /** The last entry of the log; undefined if it is missing or does not verify. */
  readonly tail: VerifiedEntry | undefined;
  /** Whether the object that the pointer names exists. */
  readonly objectExists: boolean;
  /** False if this version of the control plane would compile other content from the same rows. */
  readonly isCompiledAlike: boolean;
  /** The key that pointer and entry must be signed with; undefined: any known key. */
  readonly requiredKeyId: string | undefined;
}

export type PublicationReason =
  | 'changed'
  | 'pointer_missing'
  | 'log_missing'
  | 'version_differs'
  | 'newer_version_served'
  | 'object_missing'
  | 'key_replaced'
  | 'compiled_otherwise';

export type PublicationDecision =
  | { readonly publish: false }
  | {
      readonly publish: true;
      /** A delta continues from the published version; a snapshot replaces it. */
      readonly form: 'delta' | 'snapshot';
      readonly why: PublicationReason;
      readonly version: number;
    };

/**
 * Decides whether an environment is published, in which form, and as which version: one above every
 * version that Postgres, NATS or a data plane knows, so that versions keep rising when Postgres was
 * restored and NATS lost its data: a data plane refuses a version that is not newer than its own.
 */
export function decidePublication(state: PublicationState): PublicationDecision {
  const fault = faultOf(state);
  const changed = state.pendingChanges > 0;
  if (fault === undefined && !changed) return { publish: false };
  const newest = Math.max(storedVersion(state), state.servedVersion);
  return {
    publish: true,
    form: fault === undefined ? 'delta' : 'snapshot',
    why: changed ? 'changed' : (fault ?? 'changed'),
    version: newest + 1,
  };
}

/** The newest version that Postgres or NATS knows. */
function storedVersion({ configVersion, pointer, tail }: PublicationState): number {
  return Math.max(configVersion, pointer?.version ?? 0, tail?.entry.version ?? 0);
}

/** Why a delta cannot continue from what is published. */
function faultOf(state: PublicationState): PublicationReason | undefined {
  const { pointer, tail, requiredKeyId } = state;
  if (pointer === undefined) return 'pointer_missing';
  if (tail === undefined) return 'log_missing';
  // Either one may be ahead after a crash or a restore.
  if (tail.entry.version !== state.configVersion) return 'version_differs';
  if (!reaches(pointer, tail)) return 'version_differs';
  if (state.servedVersion > storedVersion(state)) return 'newer_version_served';
  if (!state.objectExists) return 'object_missing';
  if (
    requiredKeyId !== undefined &&
    (pointer.key_id !== requiredKeyId || tail.keyId !== requiredKeyId)
  ) {
    return 'key_replaced';
  }
  // An upgrade may have changed what is published, or its encoding.
  if (!state.isCompiledAlike) return 'compiled_otherwise';
  return undefined;
}

/**
 * Whether the snapshot and the deltas after it result in the version of the log's last entry. A pointer
 * that was moved without an entry does not match.
 */
function reaches(pointer: SnapshotPointer, { entry, id }: VerifiedEntry): boolean {
  if (entry.kind === 'snapshot') {
    return pointer.version === entry.version && pointer.signature === entry.pointer_signature;
  }
  if (pointer.version === entry.since.snapshot) return true;
  const repeated = entryIdOfSnapshot(pointer.object);
  if (pointer.version === entry.version) return repeated === id;
  return (
    repeated !== undefined &&
    pointer.version > entry.since.snapshot &&
    pointer.version < entry.version
  );
}
