import type { Pace } from '@gateway/shared/pace';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import type { Snapshot } from '@gateway/shared/snapshot/schema';

/** Puts the configuration of an environment into service. */
export interface ConfigTarget {
  /** May throw, or reject: then the snapshot is refused, and the old one serves on. */
  readonly apply: (snapshot: Snapshot, pace: Pace) => void | Promise<void>;
  /** May throw: then the delta is refused, and a snapshot is asked for. */
  readonly applyDelta: (delta: Delta) => void;
}
