/**
 * The advisory locks of the control plane: one class (the first key) for each purpose, so that no
 * two purposes can meet. kysely's migrator uses the single-key form, which is a space of its own.
 */
export const LOCK_CLASS = {
  /** Second key: hash of the environment. Held by a session while it publishes. */
  publication: 7_301,
  /** Second key: 0. Held by a transaction that makes or drops partitions. */
  partitions: 7_302,
  /** Second key: 0. Held by a transaction that makes an environment or changes a token of all of them. */
  environments: 7_303,
  /** Second key: 0. Shared by transactions that change services or routes; a roll-back has it alone. */
  configuration: 7_304,
} as const;
