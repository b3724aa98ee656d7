import type { ServiceLimits } from '../routing-table/routing-table.ts';

/** The bounds of a connection pool. */
export interface PoolLimits {
  readonly maxConnections: number;
  /** Exchanges that may wait for a connection while there can be no further one. */
  readonly maxPending: number;
}

/** The default of `max_pending` is this many times the connections, but at least `MIN_DEFAULT_PENDING`. */
const PENDING_PER_CONNECTION = 2;
const MIN_DEFAULT_PENDING = 100;

/**
 * The bounds of the pool of an upstream in one process.
 *
 * @param limits of the service, for all processes together
 * @param maxConnections the setting of this process
 */
export function poolLimits(
  limits: ServiceLimits | undefined,
  maxConnections: number,
  processes: number,
): PoolLimits {
  const share = (limit: number) => Math.ceil(limit / processes);
  const connections = Math.min(maxConnections, share(limits?.maxConnections ?? Infinity));
  const pending = limits?.maxPending;
  return {
    maxConnections: connections,
    maxPending:
      pending === undefined
        ? Math.max(MIN_DEFAULT_PENDING, connections * PENDING_PER_CONNECTION)
        : share(pending),
  };
}
