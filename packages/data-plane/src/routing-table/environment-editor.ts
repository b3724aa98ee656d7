import type { Delta } from '@gateway/shared/snapshot/log-schema';
import type { Steps } from '@gateway/shared/pace';
import type { ReadSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import type { CredentialOpener } from './compile-credential.ts';
import { takeRoute } from './compile-route.ts';
import { takeService } from './compile-service.ts';
import { compileEnvironment, compileToken } from './compile.ts';
import {
  routesOf,
  withWays,
  type CompiledService,
  type EnvironmentTable,
  type Replaced,
  type RouteEntry,
  type ServiceOf,
  type Token,
  type Unusable,
} from './routing-table.ts';
import type { MatchedRoute } from './match-layers.ts';
import { changeNames } from './route-names.ts';
import { keyOf, serviceIdsOf, unreadableRoute, withServices } from './unusable.ts';

const NO_ROUTES: readonly RouteEntry[] = [];

/** A new table and how it differs from the previous one. */
export interface TableChange {
  readonly table: EnvironmentTable;
  readonly services: readonly Replaced<CompiledService>[];
  readonly routes: readonly Replaced<RouteEntry>[];
  /** Whether what cannot be used has changed. */
  readonly unusableChanged: boolean;
}

/**
 * Holds the table of one environment and makes new tables from it. A change costs as much as the change
 * is large, not as much as the table. The editor's indexes are mutable; the tables never change.
 */
export class EnvironmentEditor {
  readonly #opener: CredentialOpener;
  #table: EnvironmentTable;
  /** By id. Only unusable routes may share one. */
  readonly #routes = new Map<string, readonly RouteEntry[]>();
  /** Service id → ids of the routes that name it. */
  readonly #routesOf = new Map<string, Set<string>>();
  /** Token id → hashes of its secrets. */
  readonly #hashesOf = new Map<string, readonly string[]>();

  private constructor(table: EnvironmentTable, opener: CredentialOpener) {
    this.#table = table;
    this.#opener = opener;
  }

  /** @param before the environment's current table; its unchanged services are reused */
  static *load(
    snapshot: ReadSnapshot,
    before: EnvironmentTable | undefined,
    opener: CredentialOpener,
  ): Steps<EnvironmentEditor> {
    const table = yield* compileEnvironment(snapshot, before, opener);
    const editor = new EnvironmentEditor(table, opener);
    for (const route of routesOf(table)) {
      editor.#replaceRoutes(route.id, [...(editor.#routes.get(route.id) ?? NO_ROUTES), route]);
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

  /** Applies a delta. What cannot be used is left out and listed, until a later change mends it. */
  apply(delta: Delta): TableChange {
    const unusable = new Map<string, Unusable | undefined>();
    const services = this.#serviceChanges(delta, unusable);
    const serviceOf = (id: string) =>
      services.has(id) ? services.get(id) : this.#table.services.get(id);
    const routes = this.#routeChanges(delta, services, serviceOf);
    const tokens = this.#tokenChanges(delta, unusable);
    const replacedServices = [...services].map(([id, after]) => ({
      before: this.#table.services.get(id),
      after,
    }));
    const replacedRoutes = [...routes].flatMap(([id, after]) =>
      pairsOf(this.#routes.get(id) ?? NO_ROUTES, after),
    );
    const names = changeNames(this.#table, replacedRoutes, unusable);
    const before = this.#table;
    this.#table = {
      name: before.name,
      stateKey: before.stateKey,
      version: delta.version,
      services: before.services.with(services),
      routes: before.routes.with(names.routes),
      refusedNames: before.refusedNames.with(names.refusedNames),
      matches: before.matches.with(
        waysTo(replacedRoutes.map(({ before: route }) => route)),
        waysTo(replacedRoutes.map(({ after: route }) => route)),
      ),
      tokens: before.tokens.with(tokens.byHash),
      unusable: before.unusable.with(changesOf(before, unusable)),
    };
    for (const [id, after] of routes) this.#replaceRoutes(id, after);
    for (const [id, hashes] of tokens.hashesOf) {
      if (hashes === undefined) this.#hashesOf.delete(id);
      else this.#hashesOf.set(id, hashes);
    }
    return {
      table: this.#table,
      services: replacedServices,
      routes: replacedRoutes,
      unusableChanged: this.#table.unusable !== before.unusable,
    };
  }

  /** The changed services by id; undefined means removed, or not usable. */
  #serviceChanges(
    { services, unreadable = [] }: Delta,
    unusable: Map<string, Unusable | undefined>,
  ): Map<string, CompiledService | undefined> {
    const changes = new Map<string, CompiledService | undefined>();
    const leaveOut = (id: string, why: Unusable | undefined) => {
      unusable.set(keyOf({ kind: 'service', id }), why);
      if (this.#table.services.has(id)) changes.set(id, undefined);
    };
    for (const id of services.remove) leaveOut(id, undefined);
    for (const service of services.put) {
      const known = this.#table.services.get(service.id);
      const taken = takeService(service, known, this.#opener);
      if ('reason' in taken) leaveOut(service.id, taken);
      else {
        unusable.set(keyOf({ kind: 'service', id: service.id }), undefined);
        if (taken !== known) changes.set(service.id, taken);
      }
    }
    for (const element of unreadable) {
      if (element.kind === 'service') leaveOut(element.id, element);
    }
    return changes;
  }

  /** The changed routes by id, including routes to changed services; none means removed. */
  #routeChanges(
    { routes, unreadable = [] }: Delta,
    services: ReadonlyMap<string, CompiledService | undefined>,
    serviceOf: ServiceOf,
  ): Map<string, readonly RouteEntry[]> {
    const changes = new Map<string, readonly RouteEntry[]>();
    for (const id of routes.remove) if (this.#routes.has(id)) changes.set(id, NO_ROUTES);
    for (const route of routes.put) {
      changes.set(route.id, [takeRoute(route, serviceOf, this.#table)]);
    }
    for (const element of unreadable) {
      if (element.kind !== 'route') continue;
      const others = changes.get(element.id) ?? NO_ROUTES;
      changes.set(element.id, [...others, unreadableRoute(element, this.#table)]);
    }
    for (const serviceId of services.keys()) {
      for (const id of this.#routesOf.get(serviceId) ?? []) {
        const known = changes.has(id) ? undefined : this.#routes.get(id);
        if (known === undefined) continue;
        changes.set(
          id,
          known.map((route) => withServices(route, serviceOf)),
        );
      }
    }
    return changes;
  }

  #tokenChanges(
    { tokens, unreadable = [] }: Delta,
    unusable: Map<string, Unusable | undefined>,
  ): {
    readonly byHash: Map<string, Token | undefined>;
    readonly hashesOf: Map<string, readonly string[] | undefined>;
  } {
    const byHash = new Map<string, Token | undefined>();
    const hashesOf = new Map<string, readonly string[] | undefined>();
    const unreadableTokens = unreadable.filter(({ kind }) => kind === 'token');
    const replaced = [...tokens.put, ...unreadableTokens].map(({ id }) => id);
    for (const id of [...tokens.remove, ...replaced]) {
      unusable.set(keyOf({ kind: 'token', id }), undefined);
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
    for (const element of unreadableTokens) unusable.set(keyOf(element), element);
    return { byHash, hashesOf };
  }

  #replaceRoutes(id: string, after: readonly RouteEntry[]): void {
    for (const serviceId of (this.#routes.get(id) ?? NO_ROUTES).flatMap(serviceIdsOf)) {
      const routes = this.#routesOf.get(serviceId);
      routes?.delete(id);
      if (routes?.size === 0) this.#routesOf.delete(serviceId);
    }
    if (after.length === 0) this.#routes.delete(id);
    else this.#routes.set(id, after);
    for (const serviceId of after.flatMap(serviceIdsOf)) {
      const routes = this.#routesOf.get(serviceId);
      if (routes === undefined) this.#routesOf.set(serviceId, new Set([id]));
      else routes.add(id);
    }
  }
}

/** The ways to those routes that there are. */
function waysTo(routes: readonly (RouteEntry | undefined)[]): readonly MatchedRoute[] {
  return routes.filter((route) => route !== undefined).map(withWays);
}

/** What replaces each route of one id. */
function pairsOf(
  before: readonly RouteEntry[],
  after: readonly RouteEntry[],
): Replaced<RouteEntry>[] {
  const length = Math.max(before.length, after.length);
  return Array.from({ length }, (_, at) => ({ before: before[at], after: after[at] }));
}

/** Without removals of what is not there, so that an unchanged list stays the same object. */
function changesOf(
  { unusable }: EnvironmentTable,
  changes: ReadonlyMap<string, Unusable | undefined>,
): ReadonlyMap<string, Unusable | undefined> {
  const real = [...changes].filter(([key, now]) => now !== undefined || unusable.has(key));
  return new Map(real);
}
