import type { SnapshotPointer } from '@gateway/shared/snapshot/schema';

export interface PublicationState {
  /** Changes that no published snapshot holds yet. */
  readonly pendingChanges: number;
  /** The version that Postgres knows as published; 0 before the first. */
  readonly configVersion: number;
  /** The proven pointer in the store; undefined where it is missing or does not verify. */
  readonly pointer: SnapshotPointer | undefined;
  /** Whether the object that the pointer names is there. */
  readonly objectExists: boolean;
  /** Whether it holds what this version of the control plane makes of the rows, or nobody looked. */
  readonly compiledAlike: boolean;
  /** The key that a pointer must be signed with; undefined where any known key will do. */
  readonly wantedKeyId: string | undefined;
}

export type PublicationReason =
  | 'changed'
  | 'pointer_missing'
  | 'version_differs'
  | 'object_missing'
  | 'key_replaced'
  | 'compiled_otherwise';

export type PublicationDecision =
  | { readonly publish: false }
  | { readonly publish: true; readonly why: PublicationReason; readonly version: number };

/**
 * Whether an environment is to be published, and as which version: one above whatever Postgres or
 * the store has seen, so that versions go on counting up when either was restored or emptied.
 */
export function decidePublication(state: PublicationState): PublicationDecision {
  const why = reasonOf(state);
  if (why === undefined) return { publish: false };
  const version = Math.max(state.configVersion, state.pointer?.version ?? 0) + 1;
  return { publish: true, why, version };
}

function reasonOf(state: PublicationState): PublicationReason | undefined {
  const { pointer } = state;
  if (state.pendingChanges > 0) return 'changed';
  if (pointer === undefined) return 'pointer_missing';
  // Unequal in either direction means that a crash or a restore parted the two.
  if (pointer.version !== state.configVersion) return 'version_differs';
  if (!state.objectExists) return 'object_missing';
  if (state.wantedKeyId !== undefined && pointer.key_id !== state.wantedKeyId)
    return 'key_replaced';
  // An upgrade may have changed what data planes are to be told, or how.
  if (!state.compiledAlike) return 'compiled_otherwise';
  return undefined;
}
