/**
 * The advisory locks of the control plane, with one class (the first key) for each purpose. kysely's
 * migrator uses locks with a single key, which are separate.
 */
export const LOCK_CLASS = {
  /** Second key: hash of the environment. Held by a session while it publishes. */
  publication: 7_301,
  /** Second key: 0. Held by a transaction that creates or drops partitions. */
  partitions: 7_302,
  /** Second key: 0. Held by a transaction that creates an environment or changes a token of all environments. */
  environments: 7_303,
  /**
   * Second key: 0. Shared by changes of single services and routes; exclusive in an apply or a roll-back. Second key 1:
   * exclusive in the apply or roll-back that is next.
   */
  configuration: 7_304,
  /**
   * Second key: hash of the id of a token. Shared by transactions that the token makes; exclusive in one that ends a
   * secret of the token.
   */
  tokens: 7_305,
  /** Second key: 0. Shared by transactions that create a token; exclusive in one that renames a route. */
  routeNames: 7_306,
  /** Second key: 0. Held by a transaction that gives routes hosts, paths or header fields to match. */
  routeMatches: 7_308,
  /** Second key: 0. Held by a session that builds missing indexes of partitions. */
  indexBuild: 7_307,
} as const;
