import type { Service, ServiceHealth } from '../../api/client.ts';

type Status = Service['status'];

/**
 * The status of a service, never another one than the upstreams beside it show. That of the service and those of its
 * upstreams come from different parts of a heartbeat, and a new service has one before the other.
 */
export function shownStatus(status: Status, health: ServiceHealth | undefined): Status {
  if (health === undefined) return status;
  if (health.status !== 'unknown') return health.status;
  const seen = health.upstreams.map((upstream) => upstream.status);
  const failing = seen.filter((one) => one === 'unhealthy' || one === 'degraded').length;
  if (failing === 0) return seen.includes('healthy') ? 'healthy' : 'unknown';
  return failing === seen.length && !seen.includes('degraded') ? 'unhealthy' : 'degraded';
}
