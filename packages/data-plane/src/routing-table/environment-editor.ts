import type { Delta } from '@gateway/shared/snapshot/log-schema';
import type { Steps } from '@gateway/shared/pace';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import type { CredentialOpener } from './compile-credential.ts';
import { compileEnvironment, compileRoute, compileToken, takeService } from './compile.ts';
import type { CompiledRoute, CompiledService, EnvironmentTable, Token } from './routing-table.ts';

/** One changed entity. `before` is undefined if it is new, `after` if it was removed. */
export interface Replaced<T> {
  readonly before: T | undefined;
  readonly after: T | undefined;
}

/** A new table and how it differs from the previous one. */
export interface TableChange {
  readonly table: EnvironmentTable;
  readonly services: readonly Replaced<CompiledService>[];
  readonly routes: readonly Replaced<CompiledRoute>[];
}

/**
 * Holds the table of one environment and makes new tables from it. A change costs as much as the change
 * is large, not as much as the table. The editor's indexes are mutable; the tables never change.
 */
export class EnvironmentEditor {
  readonly #opener: CredentialOpener;
  #table: EnvironmentTable;
  /** By id. */
  readonly #routes = new Map<string, CompiledRoute>();
  /** Service id → ids of the routes that name it. */
  readonly #routesOf = new Map<string, Set<string>>();
  /** Token id → hashes of its secrets. */
  readonly #hashesOf = new Map<string, readonly string[]>();

  private constructor(table: EnvironmentTable, opener: CredentialOpener) {
    this.#table = table;
    this.#opener = opener;
  }

  /**
   * @param before the environment's current table; its unchanged services are reused
   * @throws Error if the snapshot contradicts itself
   */
  static *load(
    snapshot: Snapshot,
    before: EnvironmentTable | undefined,
    opener: CredentialOpener,
  ): Steps<EnvironmentEditor> {
    const table = yield* compileEnvironment(snapshot, before, opener);
    const editor = new EnvironmentEditor(table, opener);
    for (const route of table.routes.values()) {
      editor.#index(undefined, route);
      yield;
    }
    for (const { id, secrets } of snapshot.tokens) {
      editor.#hashesOf.set(
        id,
        secrets.map(({ sha256 }) => sha256),
      );
      yield;
    }
    return editor;
  }

  get table(): EnvironmentTable {
    return this.#table;
  }

  /**
   * Applies a delta.
   *
   * @throws Error if the result would contradict itself, for example a route to a missing service; the
   * editor and its table then stay unchanged
   */
  apply(delta: Delta): TableChange {
    const services = this.#serviceChanges(delta);
    const serviceOf = (id: string) =>
      services.has(id) ? services.get(id) : this.#table.services.get(id);
    const routes = this.#routeChanges(delta, services, serviceOf);
    const tokens = this.#tokenChanges(delta);
    const replacedServices = [...services].map(([id, after]) => ({
      before: this.#table.services.get(id),
      after,
    }));
    const replacedRoutes = [...routes].map(([id, after]) => ({
      before: this.#routes.get(id),
      after,
    }));
    this.#table = {
      name: this.#table.name,
      stateKey: this.#table.stateKey,
      version: delta.version,
      services: this.#table.services.with(services),
      routes: this.#table.routes.with(routeChangesByName(replacedRoutes)),
      tokens: this.#table.tokens.with(tokens.byHash),
    };
    for (const { before, after } of replacedRoutes) this.#index(before, after);
    for (const [id, hashes] of tokens.hashesOf) {
      if (hashes === undefined) this.#hashesOf.delete(id);
      else this.#hashesOf.set(id, hashes);
    }
    return { table: this.#table, services: replacedServices, routes: replacedRoutes };
  }

  /** The changed services by id; undefined means removed. */
  #serviceChanges({ services }: Delta): Map<string, CompiledService | undefined> {
    const changes = new Map<string, CompiledService | undefined>();
    for (const id of services.remove) {
      if (this.#table.services.has(id)) changes.set(id, undefined);
    }
    for (const service of services.put) {
      const known = this.#table.services.get(service.id);
      const taken = takeService(service, known, this.#opener);
      if (taken !== known) changes.set(service.id, taken);
    }
    return changes;
  }

  /** The changed routes by id, including routes to changed services; undefined means removed. */
  #routeChanges(
    { routes }: Delta,
    services: ReadonlyMap<string, CompiledService | undefined>,
    serviceOf: (id: string) => CompiledService | undefined,
  ): Map<string, CompiledRoute | undefined> {
    const changes = new Map<string, CompiledRoute | undefined>();
    for (const id of routes.remove) if (this.#routes.has(id)) changes.set(id, undefined);
    for (const route of routes.put) {
      changes.set(route.id, compileRoute(route, serviceOf, this.#table));
    }
    for (const serviceId of services.keys()) {
      for (const id of this.#routesOf.get(serviceId) ?? []) {
        const route = changes.has(id) ? undefined : this.#routes.get(id);
        if (route !== undefined) changes.set(id, withServices(route, serviceOf));
      }
    }
    this.#refuseSharedNames(changes);
    return changes;
  }

  #refuseSharedNames(changes: ReadonlyMap<string, CompiledRoute | undefined>): void {
    const names = new Set<string>();
    for (const route of changes.values()) {
      if (route === undefined) continue;
      const holder = this.#table.routes.get(route.name);
      const isTaken = holder !== undefined && !changes.has(holder.id);
      if (isTaken || names.has(route.name))
        throw new Error(`route ${route.id} has the name of another route`);
      names.add(route.name);
    }
  }

  #tokenChanges({ tokens }: Delta): {
    readonly byHash: Map<string, Token | undefined>;
    readonly hashesOf: Map<string, readonly string[] | undefined>;
  } {
    const byHash = new Map<string, Token | undefined>();
    const hashesOf = new Map<string, readonly string[] | undefined>();
    for (const id of [...tokens.remove, ...tokens.put.map((token) => token.id)]) {
      for (const hash of this.#hashesOf.get(id) ?? []) byHash.set(hash, undefined);
      hashesOf.set(id, undefined);
    }
    for (const token of tokens.put) {
      for (const [hash, compiled] of compileToken(token)) byHash.set(hash, compiled);
      hashesOf.set(
        token.id,
        token.secrets.map(({ sha256 }) => sha256),
      );
    }
    return { byHash, hashesOf };
  }

  #index(before: CompiledRoute | undefined, after: CompiledRoute | undefined): void {
    for (const { service } of before?.versions ?? []) {
      const routes = this.#routesOf.get(service.id);
      if (before !== undefined) routes?.delete(before.id);
      if (routes?.size === 0) this.#routesOf.delete(service.id);
    }
    if (after === undefined) {
      if (before !== undefined) this.#routes.delete(before.id);
      return;
    }
    this.#routes.set(after.id, after);
    for (const { service } of after.versions) {
      const routes = this.#routesOf.get(service.id);
      if (routes === undefined) this.#routesOf.set(service.id, new Set([after.id]));
      else routes.add(after.id);
    }
  }
}

/** The changes by route name. A renamed route frees its old name, unless another route has taken it. */
function routeChangesByName(
  routes: readonly Replaced<CompiledRoute>[],
): Map<string, CompiledRoute | undefined> {
  const changes = new Map<string, CompiledRoute | undefined>();
  for (const { before } of routes) if (before !== undefined) changes.set(before.name, undefined);
  for (const { after } of routes) if (after !== undefined) changes.set(after.name, after);
  return changes;
}

function withServices(
  route: CompiledRoute,
  serviceOf: (id: string) => CompiledService | undefined,
): CompiledRoute {
  const versions = route.versions.map((version) => {
    const service = serviceOf(version.service.id);
    if (service === undefined) throw new Error(`route ${route.id} names an unknown service`);
    return { ...version, service };
  });
  return { ...route, versions };
}
