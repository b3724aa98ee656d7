import type { Clock } from '@gateway/shared/clock';
import type { RandomSource } from '@gateway/shared/ids';
import type { Runner } from '@gateway/shared/runner';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Registry } from 'prom-client';
import { createFetchKeySet } from './access/jwt/fetch-key-set.ts';
import { KeySetVerifier } from './access/jwt/jwt-verifier.ts';
import { KeySets } from './access/jwt/key-sets.ts';
import type { Config } from './config.ts';
import type { ConfigurationSink } from './configuration/version-loader.ts';
import { startDataPath, type DataPath, type DataPathPorts } from './data-path.ts';
import type { IdempotencyStore } from './idempotency/store/idempotency-store.ts';
import { openIdempotencyKeys } from './idempotency/open-keys.ts';
import { AdaptiveLimits } from './limits/adaptive/adaptive-limits.ts';
import { Overloads } from './limits/overloads.ts';
import { TableHolder } from './routing-table/table-holder.ts';
import { createConfigurationSink } from './configuration-sink.ts';
import { CredentialReport } from './routing-table/credential-report.ts';
import { startSeriesSweep } from './telemetry/series-sweep.ts';
import { UnusableReport } from './routing-table/unusable-report.ts';
import { createUpstreamCheck, type CheckUpstream } from './upstream/health/check-upstream.ts';
import { UpstreamHealth } from './upstream/health/upstream-health.ts';
import type { DnsCache } from './upstream/dns/dns-cache.ts';
import type { NameResolver } from './upstream/dns/guarded-lookup.ts';
import { openUpstreams } from './upstream/open-upstreams.ts';

export interface AssemblyOptions {
  readonly config: Config;
  /** Closes the parts. */
  readonly runner: Runner;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Logger;
  readonly registry: Registry;
  /** The health of an upstream changed. */
  readonly onHealthChange: () => void;
  /** A new version is served; `first`: the first of its environment. */
  readonly onServed: (first: boolean) => void;
  readonly substitutes?: Substitutes;
}

/** What a test sets in place of real parts. */
export interface Substitutes {
  readonly resolve?: NameResolver | undefined;
  readonly health?: { readonly clock: Clock; readonly check: CheckUpstream | undefined };
}

/** What requests need besides the assembly. */
export interface OpenPorts extends Pick<
  DataPathPorts,
  'ready' | 'complete' | 'quotas' | 'connections' | 'certificate' | 'addRecord' | 'tracing'
> {
  readonly idempotencyStore: IdempotencyStore;
  /** How far the clock that all data planes share is ahead of this one's, ms; undefined: unknown. */
  readonly clockOffsetMs: () => number | undefined;
}

/** The parts of a data plane that follow its configuration, and that its requests pass. */
export interface Assembly {
  readonly table: TableHolder;
  readonly health: UpstreamHealth;
  readonly credentials: CredentialReport;
  readonly unusable: UnusableReport;
  readonly overloads: Overloads;
  readonly names: DnsCache;
  readonly sink: ConfigurationSink;
  /** Starts to answer requests. */
  open(ports: OpenPorts): Promise<DataPath>;
}

/** Builds the parts; they serve an empty configuration until `sink` receives one. */
export function assemble(options: AssemblyOptions): Assembly {
  const { config, runner, clock, random, log, registry, substitutes = {} } = options;
  const table = new TableHolder(new CredentialVault(config.GATEWAY_MASTER_KEYS, random));
  const credentials = new CredentialReport(log, registry);
  const unusable = new UnusableReport(log, registry);
  const overloads = new Overloads(registry, clock);
  const adaptiveLimits = new AdaptiveLimits(registry, () => clock.nowMs());
  const { names, lookup, upstreams, controlPlane, checks } = openUpstreams(config, runner, {
    clock,
    log,
    registry,
    resolve: substitutes.resolve,
  });

  const fetchKeySet = createFetchKeySet({ clock, lookup, deny: config.UPSTREAM_DENY_CIDRS });
  const keySets = new KeySets({ fetch: fetchKeySet, clock, random: Math.random, log, registry });
  runner.defer('key sets', () => keySets.close());

  // A test may count the timers of requests.
  const backgroundClock = substitutes.health?.clock ?? clock;
  const health = new UpstreamHealth({
    clock: backgroundClock,
    log,
    registry,
    selection: { region: config.REGION, load: upstreams, random: Math.random },
    check: substitutes.health?.check ?? createUpstreamCheck(checks),
    maxParallelChecks: config.MAX_PARALLEL_HEALTH_CHECKS,
    onChange: options.onHealthChange,
  });
  runner.defer('health checks', () => health.stop());

  return {
    table,
    health,
    credentials,
    unusable,
    overloads,
    names,
    sink: createConfigurationSink({
      table,
      credentials,
      unusable,
      upstreams,
      health,
      adaptiveLimits,
      keySets,
      onServed: options.onServed,
    }),
    async open({ idempotencyStore, clockOffsetMs, ...ports }) {
      const dataPath = await startDataPath({
        ...ports,
        config,
        clock,
        random,
        log,
        registry,
        table: () => table.current,
        overloads,
        adaptiveLimits,
        upstreams,
        balancers: health,
        controlPlane,
        jwts: new KeySetVerifier({ keySets, clock, registry }),
        idempotency: openIdempotencyKeys({
          store: idempotencyStore,
          masterKeys: config.GATEWAY_MASTER_KEYS,
          clock,
          clockOffsetMs,
          random,
          log,
          registry,
          maxWaiting: config.MAX_IDEMPOTENT_WAITERS,
        }),
      });
      const sweep = startSeriesSweep(backgroundClock, () => table.current, [
        dataPath.sweepSeries,
        (live) => overloads.sweep(live),
      ]);
      runner.defer('series', () => sweep.stop());
      return dataPath;
    },
  };
}
