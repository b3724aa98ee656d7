import type { SnapshotLimits, SnapshotService } from '@gateway/shared/snapshot/schema';
import { isSameCredential } from './compile-credential.ts';
import { isSameTls } from './compile-tls.ts';
import type { CompiledService, ServiceLimits } from './routing-table.ts';

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
    healthCheck.grpcService === (check.type === 'grpc' ? check.grpc_service : undefined) &&
    healthCheck.intervalMs === check.interval_ms &&
    healthCheck.timeoutMs === check.timeout_ms &&
    healthCheck.healthyThreshold === check.healthy_threshold &&
    healthCheck.unhealthyThreshold === check.unhealthy_threshold &&
    isSameLimits(known.limits, service.limits) &&
    known.protocol === service.protocol &&
    known.websocketProtocol === service.websocket_protocol &&
    known.sendVia === service.send_via &&
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

function isSameLimits(known: ServiceLimits, limits: SnapshotLimits): boolean {
  return (
    known.maxInFlight === (limits.max_in_flight ?? undefined) &&
    known.maxConnections === (limits.max_connections ?? undefined) &&
    known.maxPending === (limits.max_pending ?? undefined) &&
    known.adaptive === limits.adaptive
  );
}
