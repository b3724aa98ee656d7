import {
  isUsable,
  routesOf,
  type EnvironmentTable,
  type RoutingTable,
} from '../routing-table/routing-table.ts';

/** The row that counts what is beyond a bound, and requests that reached no route. */
const OTHER = 'other';

/** Which of the names that metrics have as labels are in a routing table. */
export class LiveNames {
  readonly table: RoutingTable;
  /** Environment → each service with a version's name. Made when it is needed, because it reads every route. */
  readonly #services = new Map<string, ReadonlySet<string>>();
  /** Made when it is needed: there may be thousands of environments to ask. */
  #serviceIds: ReadonlySet<string> | undefined;

  constructor(table: RoutingTable) {
    this.table = table;
  }

  hasRoute(environment: string, route: string): boolean {
    if (environment === OTHER && route === OTHER) return true;
    const found = this.table.environments.get(environment);
    return found !== undefined && (found.routes.has(route) || found.refusedNames.has(route));
  }

  /** The service and the version are empty for requests that got none. */
  hasVersion(environment: string, route: string, service: string, version: string): boolean {
    if (!this.hasRoute(environment, route)) return false;
    const found = this.table.environments.get(environment)?.routes.get(route);
    // A route that cannot be used now keeps its series: it is still in the configuration.
    if (found === undefined || service === '') return true;
    return found.versions.some(
      (one) => one.service.name === service && (version === '' || one.name === version),
    );
  }

  hasServiceVersion(environment: string, service: string, version: string): boolean {
    if (environment === OTHER && service === OTHER) return true;
    const found = this.table.environments.get(environment);
    return found !== undefined && this.#servicesOf(found).has(keyOf(service, version));
  }

  hasServiceId(id: string): boolean {
    if (id === OTHER) return true;
    this.#serviceIds ??= new Set(
      [...this.table.environments.values()].flatMap(({ services }) => [...services.keys()]),
    );
    return this.#serviceIds.has(id);
  }

  #servicesOf(environment: EnvironmentTable): ReadonlySet<string> {
    const known = this.#services.get(environment.name);
    if (known !== undefined) return known;
    const found = new Set<string>();
    for (const route of routesOf(environment)) {
      if (!isUsable(route)) continue;
      for (const { service, name = '' } of route.versions) found.add(keyOf(service.name, name));
    }
    this.#services.set(environment.name, found);
    return found;
  }
}

function keyOf(service: string, version: string): string {
  return `${service}\n${version}`;
}
