import type { KnownDataPlane } from './data-plane.ts';
import type { ServicesByStatus } from '../services/service-health-filter.ts';
import type { ServiceStatus } from '../services/service.ts';

/**
 * The status of a service, as live data planes report it: `unknown` if none has checked any upstream,
 * `healthy` if all checked upstreams are healthy, `unhealthy` if none is, else `degraded`. A healthy service is
 * `degraded` too if it lately refused requests because it was at one of its limits.
 */
export function serviceStatus(live: readonly KnownDataPlane[], serviceId: string): ServiceStatus {
  let healthy = 0;
  let failing = 0;
  let overloaded = false;
  for (const { heartbeat } of live) {
    const counts = heartbeat.services[serviceId];
    healthy += counts?.[0] ?? 0;
    failing += counts?.[1] ?? 0;
    overloaded ||= heartbeat.overloaded_services.includes(serviceId);
  }
  if (failing === 0 && healthy === 0) return 'unknown';
  if (failing === 0) return overloaded ? 'degraded' : 'healthy';
  return healthy === 0 ? 'unhealthy' : 'degraded';
}

/** The services that live data planes report, by their status. */
export function servicesByStatus(live: readonly KnownDataPlane[]): ServicesByStatus {
  const ids = new Set(live.flatMap(({ heartbeat }) => Object.keys(heartbeat.services)));
  const healthy: string[] = [];
  const degraded: string[] = [];
  const unhealthy: string[] = [];
  for (const id of ids) {
    const status = serviceStatus(live, id);
    if (status === 'healthy') healthy.push(id);
    else if (status === 'degraded') degraded.push(id);
    else if (status === 'unhealthy') unhealthy.push(id);
  }
  return { healthy, degraded, unhealthy };
}

/** One line for each live data plane that cannot use a part of the configuration: how much, and why. */
export function unusableConfiguration(live: readonly KnownDataPlane[]): readonly string[] {
  return live.flatMap(({ heartbeat: { id, unusable_counts: counts, unusable_elements } }) => {
    const count = Object.values(counts).reduce((sum, one) => sum + one, 0);
    const [first] = unusable_elements;
    if (count === 0 || first === undefined) return [];
    const { kind, name, id: elementId, reason } = first;
    const more = count > 1 ? `; and ${count - 1} more` : '';
    return [
      `data plane ${id} cannot use a part of the configuration: ${kind} ${name ?? elementId}: ${reason}${more}`,
    ];
  });
}

/** One line for each live data plane that cannot decrypt some upstream credential: which key, and why. */
export function credentialFaults(live: readonly KnownDataPlane[]): readonly string[] {
  return live.flatMap(({ heartbeat: { id, unusable_credentials: unusable } }) => {
    if (unusable.length === 0) return [];
    const keys = unusable.map(({ key_id, reason, services }) => {
      return `${key_id} (${reason}, services: ${services})`;
    });
    return [`data plane ${id} cannot decrypt credentials encrypted with ${keys.join(', ')}`];
  });
}
