import type { UnusableCredentials } from '@gateway/shared/heartbeats/heartbeat';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { Instruments } from '@gateway/shared/telemetry/instruments';
import type { Gauge, Registry } from 'prom-client';
import type { RoutingTable } from './routing-table.ts';

/** How many service ids a log line lists; it always gives the full count. */
const SHOWN_SERVICES = 10;
/** Limit of a heartbeat; no installation has this many master keys at once. */
const MAX_GROUPS = 16;
const MAX_KEY_ID_CHARS = 32;

interface Group {
  readonly key_id: string;
  readonly reason: UnusableCredentials['reason'];
  readonly serviceIds: string[];
}

/**
 * Reports the upstream credentials that this data plane cannot decrypt, grouped by the master key that
 * they need: as a metric, in a log line at each change, and to heartbeats and `/readyz`. The services of
 * such credentials are refused.
 */
export class CredentialReport {
  readonly #log: Logger;
  readonly #gauge: Gauge<'key_id' | 'reason'>;
  #groups: readonly Group[] = [];
  /** The groups that were logged last, as JSON. */
  #reported = '[]';

  constructor(log: Logger, registry: Registry) {
    this.#log = log;
    this.#gauge = new Instruments(registry).gauge(
      'gateway_unusable_credentials',
      'Services whose credential cannot be decrypted, by the master key that encrypted it',
      ['key_id', 'reason'],
    );
  }

  /** Called when a new table is in use. */
  applied(table: RoutingTable): void {
    this.#groups = unusableOf(table);
    const text = JSON.stringify(this.#groups);
    if (text === this.#reported) return;
    this.#reported = text;
    this.#gauge.reset();
    for (const { key_id, reason, serviceIds } of this.#groups) {
      this.#gauge.set({ key_id, reason }, serviceIds.length);
    }
    if (this.#groups.length === 0) {
      this.#log.info('all upstream credentials decryptable again');
    }
    for (const { key_id, reason, serviceIds } of this.#groups) {
      const shown = serviceIds.slice(0, SHOWN_SERVICES);
      const fields = { key_id, reason, services: serviceIds.length, service_ids: shown };
      this.#log.error(fields, 'upstream credentials not decryptable');
    }
  }

  /** For the heartbeat. */
  unusable(): readonly UnusableCredentials[] {
    return this.#groups.slice(0, MAX_GROUPS).map(({ key_id, reason, serviceIds }) => ({
      key_id: key_id.slice(0, MAX_KEY_ID_CHARS),
      reason,
      services: serviceIds.length,
    }));
  }

  /** The reasons why this data plane is degraded: one line per key. */
  reasons(): readonly string[] {
    return this.#groups.map(({ key_id, reason, serviceIds }) => {
      const why =
        reason === 'key_missing'
          ? `GATEWAY_MASTER_KEYS lacks the key ${key_id}`
          : `the data does not match what the key ${key_id} encrypted`;
      return `upstream credentials not decryptable: ${serviceIds.length} services; ${why}`;
    });
  }
}

function unusableOf(table: RoutingTable): Group[] {
  const groups = new Map<string, Group>();
  for (const environment of table.environments.values()) {
    for (const { id, credential } of environment.services.values()) {
      if (credential?.usable !== false) continue;
      const { reason, sealed } = credential;
      const key = `${reason} ${sealed.key_id}`;
      const group = groups.get(key) ?? { key_id: sealed.key_id, reason, serviceIds: [] };
      group.serviceIds.push(id);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}
