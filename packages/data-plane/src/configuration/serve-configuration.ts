import type { Pace } from '@gateway/shared/pace';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import type { KeySets } from '../access/jwt/key-sets.ts';
import type { ConfigTarget } from './config-target.ts';
import type { Replaced } from '../routing-table/environment-editor.ts';
import type { CompiledService } from '../routing-table/routing-table.ts';
import type { TableHolder } from '../routing-table/table-holder.ts';
import type { CredentialReport } from '../telemetry/credential-report.ts';
import type { UpstreamHealth } from '../upstream/health/upstream-health.ts';
import type { UpstreamPools } from '../upstream/pools.ts';

/** Whatever keeps something for what the routing table names. */
export interface ConfigurationUsers {
  readonly table: TableHolder;
  readonly credentials: CredentialReport;
  readonly upstreams: UpstreamPools;
  readonly health: UpstreamHealth;
  readonly keySets: KeySets;
  /** Another configuration is served; `first`: the first one of its environment. */
  readonly onServed: (first: boolean) => void;
}

/**
 * Puts configurations into service: the table first, so that one which does not compile changes nothing,
 * then each of its users. A delta is told to them as what it has changed, so it costs no more than that.
 */
export function serveConfiguration(users: ConfigurationUsers): ConfigTarget {
  const { table, credentials, upstreams, health, keySets, onServed } = users;
  return {
    async apply(snapshot: Snapshot, pace: Pace) {
      const first = !table.current.environments.has(snapshot.environment);
      await table.load(snapshot, pace);
      credentials.applied(table.current);
      upstreams.retain(table.upstreamKeys);
      health.reconcile(table.current);
      keySets.retain(table.keySetUrls);
      onServed(first);
    },
    applyDelta(delta: Delta) {
      const { services, keySetsChanged } = table.change(delta);
      if (services.some(isAboutCredentials)) credentials.applied(table.current);
      health.change(table.current, services);
      upstreams.release(keysLeft(services));
      if (keySetsChanged) keySets.retain(table.keySetUrls);
      onServed(false);
    },
  };
}

/** Whether what is told of credentials that cannot be opened may be otherwise now. */
function isAboutCredentials({ before, after }: Replaced<CompiledService>): boolean {
  return before?.credential?.usable === false || after?.credential?.usable === false;
}

/** The keys of upstreams that are not there any more. */
function* keysLeft(services: readonly Replaced<CompiledService>[]): Generator<string> {
  for (const { before, after } of services) {
    const kept = new Set(after?.upstreams.map(({ key }) => key));
    for (const { key } of before?.upstreams ?? []) if (!kept.has(key)) yield key;
  }
}
