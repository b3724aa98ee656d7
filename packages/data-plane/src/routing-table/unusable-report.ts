import { createHash } from 'node:crypto';
import { ELEMENT_KINDS } from '@gateway/shared/snapshot/read-element';
import { MAX_UNUSABLE_ELEMENTS, type Heartbeat } from '@gateway/shared/heartbeats/heartbeat';
import { Instruments } from '@gateway/shared/telemetry/instruments';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Gauge, Registry } from 'prom-client';
import type { RoutingTable, Unusable } from './routing-table.ts';

/** How many elements a log line describes; it always gives the full count. */
const SHOWN_ELEMENTS = 10;

/** The longest name or id that is shown of an element: what cannot be used may have one of any length. */
const MAX_NAME_CHARS = 64;

/**
 * Reports the routes, services and tokens that this data plane cannot use: as a metric, in a log line at each change,
 * and to heartbeats and `/readyz`. Requests to such a route are refused; everything else is served.
 */
export class UnusableReport {
  readonly #log: Logger;
  readonly #gauge: Gauge<'environment' | 'kind'>;
  /** Environment → what cannot be used, where there is anything. */
  #byEnvironment: ReadonlyMap<string, readonly Unusable[]> = new Map();
  /** A hash of what was logged last for each environment. */
  readonly #reported = new Map<string, string>();

  constructor(log: Logger, registry: Registry) {
    this.#log = log;
    this.#gauge = new Instruments(registry).gauge(
      'gateway_config_unusable',
      'Routes, services and tokens of the served configuration that this data plane cannot use',
      ['environment', 'kind'],
    );
  }

  /** Called when a new table is in use. */
  applied(table: RoutingTable): void {
    const found = new Map<string, readonly Unusable[]>();
    this.#gauge.reset();
    for (const { name, unusable } of table.environments.values()) {
      const elements = [...unusable.values()];
      if (elements.length > 0) found.set(name, elements);
      this.#measure(name, elements);
    }
    this.#byEnvironment = found;
    for (const environment of new Set([...this.#reported.keys(), ...found.keys()])) {
      this.#report(environment, found.get(environment) ?? []);
    }
  }

  /** For the heartbeat. */
  heartbeat(): Pick<Heartbeat, 'unusable_counts' | 'unusable_elements'> {
    const all = [...this.#byEnvironment];
    const elements = all.flatMap(([environment, unusable]) =>
      unusable.slice(0, MAX_UNUSABLE_ELEMENTS).map(({ kind, id, name, reason }) => {
        const shownName = name === undefined ? null : shown(name);
        return { environment, kind, id: shown(id), name: shownName, reason };
      }),
    );
    return {
      unusable_counts: Object.fromEntries(all.map(([name, { length }]) => [name, length])),
      unusable_elements: elements.slice(0, MAX_UNUSABLE_ELEMENTS),
    };
  }

  /** The reasons why this data plane is degraded: one line per environment. */
  reasons(): readonly string[] {
    return [...this.#byEnvironment].map(([environment, [first, ...others]]) => {
      const more = others.length === 0 ? '' : `; and ${others.length} more`;
      const why = first === undefined ? '' : `${describe(first)}${more}`;
      return `configuration of ${environment} partly unusable: ${why}`;
    });
  }

  #measure(environment: string, elements: readonly Unusable[]): void {
    for (const kind of ELEMENT_KINDS) {
      const count = elements.filter((one) => one.kind === kind).length;
      this.#gauge.set({ environment, kind }, count);
    }
  }

  #report(environment: string, elements: readonly Unusable[]): void {
    const before = this.#reported.get(environment);
    const hash = elements.length === 0 ? undefined : hashOf(elements);
    if (hash === before) return;
    if (hash === undefined) {
      this.#reported.delete(environment);
      this.#log.info({ environment }, 'configuration usable again');
      return;
    }
    this.#reported.set(environment, hash);
    const reasons = elements.slice(0, SHOWN_ELEMENTS).map(describe);
    const fields = { environment, elements: elements.length, reasons };
    this.#log.error(fields, 'configuration partly unusable');
  }
}

function describe({ kind, id, name, reason }: Unusable): string {
  return `${kind} ${shown(name ?? id)}: ${reason}`;
}

function shown(text: string): string {
  return text.length <= MAX_NAME_CHARS ? text : `${text.slice(0, MAX_NAME_CHARS - 1)}…`;
}

function hashOf(elements: readonly Unusable[]): string {
  const hash = createHash('sha256');
  for (const element of elements) hash.update(JSON.stringify(element));
  return hash.digest('base64url');
}
