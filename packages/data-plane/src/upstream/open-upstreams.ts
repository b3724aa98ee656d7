import type { LookupFunction } from 'node:net';
import type { Clock } from '@gateway/shared/clock';
import {
  resolveByServers,
  resolveBySystem,
  SYSTEM_SOURCES,
} from '@gateway/shared/dns/system-names';
import { parseAddressRanges, type AddressRanges } from '@gateway/shared/net/client-address';
import type { Runner } from '@gateway/shared/runner';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Registry } from 'prom-client';
import { guardedLookup, type NameResolver } from './dns/guarded-lookup.ts';
import { DnsCache } from './dns/dns-cache.ts';
import { registerDnsMetrics } from './dns/dns-metrics.ts';
import { Http2Client } from '@gateway/http/http2/client/client';
import { createConnectionMetrics } from './connection-metrics.ts';
import type { ObserveConnection, OpenConnections } from './upstream-connector.ts';
import { UpstreamPools } from './upstream-pools.ts';

/** The settings of connections to upstreams, by the names of their environment variables. */
export interface UpstreamSettings {
  readonly UPSTREAM_DENY_CIDRS: AddressRanges;
  /** Addresses of name servers; empty: the resolver of the system. */
  readonly DNS_SERVERS: readonly string[];
  readonly DNS_STALE_MS: number;
  readonly MAX_UPSTREAM_CONNECTIONS: number;
  readonly WORKERS: number;
  readonly CONNECT_TIMEOUT_MS: number;
  readonly BODY_IDLE_TIMEOUT_MS: number;
  readonly UPSTREAM_CONNECTION_MAX_AGE_MS: number;
  readonly HTTP2_MAX_WINDOW_BYTES: number;
}

/** The outbound connections of a data plane. Each client has its own pools. */
export interface OpenUpstreams {
  readonly names: DnsCache;
  /** Resolves names, and refuses the addresses in `UPSTREAM_DENY_CIDRS`. */
  readonly lookup: LookupFunction;
  readonly upstreams: UpstreamPools;
  /** For requests to the control plane; no address is refused. */
  readonly controlPlane: UpstreamPools;
  /** For health checks, which must not wait for a connection behind requests. */
  readonly checks: UpstreamPools;
  /**
   * Pools for one test of a connection, which whoever opens them closes.
   *
   * @param observe gets its connection
   * @param limitMs how long the connection may take to open, if that is less than usual: no close ends it before
   */
  readonly openTest: (observe: ObserveConnection, limitMs: number) => UpstreamPools;
}

export interface OpenUpstreamsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** Resolves names in place of the name cache. */
  readonly resolve?: NameResolver | undefined;
}

/** Opens the connection pools; the runner closes them. */
export function openUpstreams(
  config: UpstreamSettings,
  runner: Runner,
  { clock, log, registry, resolve }: OpenUpstreamsOptions,
): OpenUpstreams {
  const deny = config.UPSTREAM_DENY_CIDRS;
  const servers = config.DNS_SERVERS;
  const names = new DnsCache({
    resolve:
      servers.length > 0
        ? resolveByServers(servers, clock)
        : resolveBySystem(SYSTEM_SOURCES, clock),
    staleMs: config.DNS_STALE_MS,
    clock,
    log,
  });
  registerDnsMetrics(registry, names);
  const resolveName = resolve ?? names.lookup;
  const lookup = guardedLookup(deny, resolveName);
  const open: OpenConnections = { http1: 0, http2: 0 };
  const metrics = createConnectionMetrics(registry, { open, streams: () => http2.carried });
  const http2 = new Http2Client({
    clock,
    maxWindowBytes: config.HTTP2_MAX_WINDOW_BYTES,
    ended: metrics.ended,
  });
  const pools = {
    clock,
    lookup,
    http2,
    maxConnections: config.MAX_UPSTREAM_CONNECTIONS,
    processes: config.WORKERS,
    connectTimeoutMs: config.CONNECT_TIMEOUT_MS,
    bodyIdleTimeoutMs: config.BODY_IDLE_TIMEOUT_MS,
    maxConnectionAgeMs: config.UPSTREAM_CONNECTION_MAX_AGE_MS,
    internalError: (error: unknown) => {
      log.error({ side: 'upstream', err: error }, 'connection failed unexpectedly');
    },
  };
  const upstreams = new UpstreamPools({ ...pools, open, deny });
  const none = parseAddressRanges([]);
  const controlPlane = new UpstreamPools({
    ...pools,
    lookup: guardedLookup(none, resolveName),
    deny: none,
  });
  const checks = new UpstreamPools({ ...pools, open, deny });
  const openTest = (observe: ObserveConnection, limitMs: number) => {
    const connectTimeoutMs = Math.min(pools.connectTimeoutMs, limitMs);
    return new UpstreamPools({ ...pools, open, deny, observe, connectTimeoutMs });
  };
  runner.defer('upstream connections', () => {
    upstreams.close();
    controlPlane.close();
    checks.close();
    http2.destroy();
  });
  return { names, lookup, upstreams, controlPlane, checks, openTest };
}
