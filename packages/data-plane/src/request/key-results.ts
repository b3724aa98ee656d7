/**
 * The effect of the idempotency key on its request. `repeated`: it runs again, because the earlier run ended with a
 * repeatable status. `forwarded`: the outcome of an earlier run is unknown and the route allows another run. `passed_on`:
 * the key is for the upstream alone.
 */
export const KEY_RESULTS = [
  'first',
  'repeated',
  'forwarded',
  'replayed',
  'conflict',
  'in_progress',
  'outcome_unknown',
  'not_replayable',
  'unavailable',
  'passed_on',
] as const;
export type KeyResult = (typeof KEY_RESULTS)[number];
