import type { SnapshotService } from '@gateway/shared/snapshot/schema';
import { isSameCredential } from './compile-credential.ts';
import { isSameTls } from './compile-tls.ts';
import type { CompiledService } from './routing-table.ts';

/** Whether compiling `service` would give an equal service. */
export function isSameService(known: CompiledService, service: SnapshotService): boolean {
  const { healthCheck, upstreams } = known;
  const check = service.health_check;
  return (
    known.id === service.id &&
    known.name === service.name &&
    (known.tls?.unusable !== undefined || isSameCredential(known.credential, service.credential)) &&
    isSameTls(known.tls, service.tls) &&
    healthCheck.path === check.path &&
    healthCheck.intervalMs === check.interval_ms &&
    healthCheck.timeoutMs === check.timeout_ms &&
    healthCheck.healthyThreshold === check.healthy_threshold &&
    healthCheck.unhealthyThreshold === check.unhealthy_threshold &&
    upstreams.length === service.upstreams.length &&
    service.upstreams.every(({ id, url, region, weight }, index) => {
      const upstream = upstreams[index];
      return (
        upstream?.id === id &&
        upstream.url === url &&
        upstream.region === region &&
        upstream.weight === weight
      );
    })
  );
}
