import type {
  CompiledRoute,
  EnvironmentTable,
  Replaced,
  RefusedName,
  RouteEntry,
  Unusable,
} from './routing-table.ts';
import { assignName, keyOf, refusalsOf } from './unusable.ts';

/** What changes under the names of the changed routes; undefined removes a name. */
export interface NameChanges {
  readonly routes: ReadonlyMap<string, CompiledRoute | undefined>;
  readonly refusedNames: ReadonlyMap<string, RefusedName | undefined>;
}

/**
 * Assigns the names of changed routes. A renamed route frees its old name, unless another route has taken it. If two
 * routes claim one name, requests to it are refused: it is not known which route they mean.
 *
 * @param unusable what cannot be used; receives the routes
 */
export function changeNames(
  table: EnvironmentTable,
  changes: readonly Replaced<RouteEntry>[],
  unusable: Map<string, Unusable | undefined>,
): NameChanges {
  const changedIds = new Set(changes.flatMap(({ before, after }) => [before?.id, after?.id]));
  const claims = new Map<string, RouteEntry[]>();
  const claimsOf = (name: string): RouteEntry[] => {
    let found = claims.get(name);
    if (found === undefined) {
      const unchanged = routesOfName(table, name).filter(({ id }) => !changedIds.has(id));
      claims.set(name, (found = [...unchanged]));
    }
    return found;
  };
  for (const { before, after } of changes) {
    if (before !== undefined) {
      claimsOf(before.name);
      unusable.set(keyOf({ kind: 'route', id: before.id }), undefined);
    }
    if (after !== undefined) claimsOf(after.name).push(after);
  }
  const routes = new Map<string, CompiledRoute | undefined>();
  const refusedNames = new Map<string, RefusedName | undefined>();
  for (const [name, claimants] of claims) {
    const assigned = assignName(name, claimants);
    const refused = assigned !== undefined && 'claimants' in assigned ? assigned : undefined;
    const usable = assigned !== undefined && 'claimants' in assigned ? undefined : assigned;
    if (usable !== undefined || table.routes.has(name)) routes.set(name, usable);
    if (refused !== undefined || table.refusedNames.has(name)) refusedNames.set(name, refused);
    if (usable !== undefined) unusable.set(keyOf({ kind: 'route', id: usable.id }), undefined);
    for (const refusal of refused === undefined ? [] : refusalsOf(refused)) {
      unusable.set(keyOf(refusal), refusal);
    }
  }
  return { routes, refusedNames };
}

function routesOfName(table: EnvironmentTable, name: string): readonly RouteEntry[] {
  const route = table.routes.get(name);
  return route === undefined ? (table.refusedNames.get(name)?.claimants ?? []) : [route];
}
