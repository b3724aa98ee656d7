import type { Pace } from '@gateway/shared/pace';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import type { ReadSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import type { KeySets } from './access/jwt/key-sets.ts';
import type { ConfigurationSink } from './configuration/version-loader.ts';
import type { AdaptiveLimits } from './limits/adaptive/adaptive-limits.ts';
import type { CompiledService, Replaced } from './routing-table/routing-table.ts';
import type { TableHolder } from './routing-table/table-holder.ts';
import type { CredentialReport } from './routing-table/credential-report.ts';
import type { UnusableReport } from './routing-table/unusable-report.ts';
import type { UpstreamHealth } from './upstream/health/upstream-health.ts';
import type { UpstreamPools } from './upstream/upstream-pools.ts';

/** What holds state for services, upstreams or key sets of the routing table. */
export interface ConfigurationFollowers {
  readonly table: TableHolder;
  readonly credentials: CredentialReport;
  readonly unusable: UnusableReport;
  readonly upstreams: UpstreamPools;
  readonly health: UpstreamHealth;
  readonly adaptiveLimits: AdaptiveLimits;
  readonly keySets: KeySets;
  /** A new version is served; `first`: the first of its environment. */
  readonly onServed: (first: boolean) => void;
}

/**
 * Puts configurations into service: first the table, so that a delta for another version changes nothing,
 * then its users. For a delta they receive only what changed, so it costs no more than its size.
 */
export function createConfigurationSink(followers: ConfigurationFollowers): ConfigurationSink {
  const { table, credentials, unusable, upstreams, health, adaptiveLimits, keySets, onServed } =
    followers;
  return {
    async apply(snapshot: ReadSnapshot, pace: Pace) {
      const first = !table.current.environments.has(snapshot.environment);
      await table.load(snapshot, pace);
      credentials.applied(table.current);
      unusable.applied(table.current);
      upstreams.retain(table.upstreamKeys);
      health.reconcile(table.current);
      adaptiveLimits.reconcile(table.current);
      keySets.retain(table.keySetUrls);
      onServed(first);
    },
    applyDelta(delta: Delta) {
      const { services, keySetsChanged, unusableChanged } = table.change(delta);
      if (services.some(hadOrHasUnusableCredential)) credentials.applied(table.current);
      if (unusableChanged) unusable.applied(table.current);
      health.change(table.current, services);
      adaptiveLimits.change(services);
      upstreams.release(removedKeys(services));
      if (keySetsChanged) keySets.retain(table.keySetUrls);
      onServed(false);
    },
  };
}

/** Whether the report of unusable credentials may change. */
function hadOrHasUnusableCredential({ before, after }: Replaced<CompiledService>): boolean {
  return before?.credential?.usable === false || after?.credential?.usable === false;
}

/** Keys of removed upstreams. */
function* removedKeys(services: readonly Replaced<CompiledService>[]): Generator<string> {
  for (const { before, after } of services) {
    const kept = new Set(after?.upstreams.map(({ key }) => key));
    for (const { key } of before?.upstreams ?? []) if (!kept.has(key)) yield key;
  }
}
