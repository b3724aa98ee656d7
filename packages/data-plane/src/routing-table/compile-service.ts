import type {
  SnapshotLimits,
  SnapshotService,
  SnapshotUpstream,
} from '@gateway/shared/snapshot/schema';
import { compileCredential, type CredentialOpener } from './compile-credential.ts';
import { compileTls, type UpstreamTls } from './compile-tls.ts';
import { httpUrl } from './http-url.ts';
import type {
  CompiledService,
  CompiledUpstream,
  ServiceLimits,
  Unusable,
} from './routing-table.ts';
import { isSameService } from './same-service.ts';
import { reasonOf } from './unusable.ts';

/** The known service if compiling would give the same, else the compiled service, or why there is none. */
export function takeService(
  service: SnapshotService,
  known: CompiledService | undefined,
  opener: CredentialOpener,
): CompiledService | Unusable {
  if (known !== undefined && isSameService(known, service)) return known;
  try {
    return compileService(service, opener);
  } catch (error) {
    return { kind: 'service', id: service.id, name: undefined, reason: reasonOf(error) };
  }
}

function compileService(service: SnapshotService, opener: CredentialOpener): CompiledService {
  const check = service.health_check;
  const limits = compileLimits(service.limits);
  const tls = compileTls(service.tls, service.id, opener);
  return {
    id: service.id,
    name: service.name,
    upstreams: service.upstreams.map((upstream) =>
      compileUpstream(upstream, service, limits, tls?.tls),
    ),
    healthCheck: {
      path: check.path,
      grpcService: check.type === 'grpc' ? check.grpc_service : undefined,
      intervalMs: check.interval_ms,
      timeoutMs: check.timeout_ms,
      healthyThreshold: check.healthy_threshold,
      unhealthyThreshold: check.unhealthy_threshold,
    },
    limits,
    protocol: service.protocol,
    websocketProtocol: service.websocket_protocol,
    sendVia: service.send_via,
    // Without the client key nothing may be sent either.
    credential: tls?.unusable ?? compileCredential(service.credential, service.id, opener),
    tls,
  };
}

function compileLimits(limits: SnapshotLimits): ServiceLimits {
  return {
    maxInFlight: limits.max_in_flight ?? undefined,
    maxConnections: limits.max_connections ?? undefined,
    maxPending: limits.max_pending ?? undefined,
    adaptive: limits.adaptive,
  };
}

function compileUpstream(
  upstream: SnapshotUpstream,
  service: SnapshotService,
  limits: ServiceLimits,
  tls: UpstreamTls | undefined,
): CompiledUpstream {
  const url = httpUrl(upstream.url);
  if (url === undefined) throw new Error('the URL of an upstream is not one of HTTP');
  const protocol = service.protocol === 'http1' ? undefined : service.protocol;
  const hasStreamsForWebSockets = protocol !== undefined && service.websocket_protocol === 'http2';
  const peer = [service.id, upstream.id, url.origin, tls?.fingerprint, protocol];
  return {
    // Health, pools and in-flight counts are kept under this key. So they survive a configuration
    // change that keeps the address, and no two services share a pool. Different TLS settings or
    // another protocol make a different peer.
    key: peer.filter((part) => part !== undefined).join(' '),
    id: upstream.id,
    serviceId: service.id,
    url: upstream.url,
    origin: url.origin,
    host: url.host,
    basePath: url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname,
    region: upstream.region,
    weight: upstream.weight,
    limits,
    ...(tls !== undefined && { tls }),
    ...(protocol !== undefined && { protocol }),
    ...(hasStreamsForWebSockets && { websocketProtocol: 'http2' }),
  };
}
