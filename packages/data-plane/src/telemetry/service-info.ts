import type { Registry } from 'prom-client';
import type { RoutingTable } from '../routing-table/routing-table.ts';
import { registerMetric } from './tables.ts';

const MAX_SERVICES = 20_000;

/** Registers the metric that names the service of each id, for queries that join metrics with ids to it. */
export function registerServiceInfo(registry: Registry, table: () => RoutingTable): void {
  registerMetric(
    registry,
    'gateway_service_info',
    `1 for each service, with its id and its name, for the first ${MAX_SERVICES} services`,
    'gauge',
    () => [...labelsOf(table())].map((labels) => ({ value: 1, labels })),
  );
}

function* labelsOf(table: RoutingTable): Generator<Record<string, string>> {
  let rows = 0;
  for (const environment of table.environments.values()) {
    for (const { id, name } of environment.services.values()) {
      if (rows >= MAX_SERVICES) return;
      rows += 1;
      yield { service_id: id, name, environment: environment.name };
    }
  }
}
