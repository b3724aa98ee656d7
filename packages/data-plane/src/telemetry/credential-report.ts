import type { UnusableCredentials } from '@gateway/shared/heartbeats/heartbeat';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { Gauge, type Registry } from 'prom-client';
import type { RoutingTable } from '../routing-table/routing-table.ts';

/** What a log line names; the number is told whole. */
const SHOWN_SERVICES = 10;
/** What a heartbeat has room for, far above the master keys that anybody has at a time. */
const MAX_GROUPS = 16;
const MAX_KEY_ID_CHARS = 32;

interface Group {
  readonly key_id: string;
  readonly reason: UnusableCredentials['reason'];
  readonly serviceIds: string[];
}

/**
 * Tells of credentials that this data plane cannot open, by the master key that they need: as a metric,
 * in a log line with each change, and to heartbeats and readiness.
 */
export class CredentialReport {
  readonly #log: Logger;
  readonly #gauge: Gauge<'key_id' | 'reason'>;
  #groups: readonly Group[] = [];
  #told = '';

  constructor(log: Logger, registry: Registry) {
    this.#log = log;
    this.#gauge = new Gauge({
      name: 'gateway_unusable_credentials',
      help: 'Services whose credential cannot be opened, by the master key that it was sealed under',
      labelNames: ['key_id', 'reason'],
      registers: [registry],
    });
  }

  /** A new table is in use. */
  applied(table: RoutingTable): void {
    this.#groups = unusableOf(table);
    const text = JSON.stringify(this.#groups);
    if (text === (this.#told || '[]')) return;
    this.#told = text;
    this.#gauge.reset();
    for (const { key_id, reason, serviceIds } of this.#groups) {
      this.#gauge.set({ key_id, reason }, serviceIds.length);
    }
    if (this.#groups.length === 0) {
      this.#log.info('every credential of an upstream can be used again');
    }
    for (const { key_id, reason, serviceIds } of this.#groups) {
      const shown = serviceIds.slice(0, SHOWN_SERVICES);
      const what = { key_id, reason, services: serviceIds.length, service_ids: shown };
      this.#log.error(
        what,
        'credentials of upstreams cannot be opened; their services are refused',
      );
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

  /** For who asks whether all is well: one line for each key. */
  reasons(): readonly string[] {
    return this.#groups.map(({ key_id, reason, serviceIds }) => {
      const why =
        reason === 'key_missing'
          ? `GATEWAY_MASTER_KEYS lacks the key ${key_id}`
          : `they are not what was sealed under the key ${key_id}`;
      return `credentials of upstreams cannot be opened, of services: ${serviceIds.length}; ${why}`;
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
