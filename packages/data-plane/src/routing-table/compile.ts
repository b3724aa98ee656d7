import type { Steps } from '@gateway/shared/pace';
import type { ReadSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import type { SnapshotToken } from '@gateway/shared/snapshot/schema';
import { NO_KEYS, type CredentialOpener } from './compile-credential.ts';
import { takeRoute } from './compile-route.ts';
import { takeService } from './compile-service.ts';
import { LayeredMap } from './layered-map.ts';
import { RouteMatches } from './route-matches.ts';
import {
  withWays,
  type CompiledRoute,
  type CompiledService,
  type EnvironmentTable,
  type RefusedName,
  type RouteEntry,
  type Token,
  type Unusable,
} from './routing-table.ts';
import { assignName, keyOf, refusalsOf, unreadableRoute } from './unusable.ts';

/**
 * Compiles the snapshot of one environment to a table, one element per step. Pure: the same snapshot
 * gives the same table. What cannot be used is left out and listed; the rest is compiled.
 *
 * @param before the table to replace. Its unchanged services are reused, so that code which keeps state
 * for a service can tell by identity that the service is unchanged
 * @param opener decrypts the services' credentials; without it no credential is usable
 */
export function* compileEnvironment(
  snapshot: ReadSnapshot,
  before?: EnvironmentTable,
  opener: CredentialOpener = NO_KEYS,
): Steps<EnvironmentTable> {
  const unusable = new Map<string, Unusable>();
  const report = (element: Unusable) => unusable.set(keyOf(element), element);
  const services = new Map<string, CompiledService>();
  for (const service of snapshot.services) {
    const taken = takeService(service, before?.services.get(service.id), opener);
    if ('reason' in taken) report(taken);
    else services.set(service.id, taken);
    yield;
  }
  const serviceOf = (id: string) => services.get(id);
  const { environment: environmentName, environment_id: stateKey = environmentName } = snapshot;
  const environment = { name: environmentName, stateKey };
  const byName = new Map<string, RouteEntry[]>();
  const addRoute = (route: RouteEntry) => {
    const others = byName.get(route.name);
    if (others === undefined) byName.set(route.name, [route]);
    else others.push(route);
  };
  for (const route of snapshot.routes) {
    addRoute(takeRoute(route, serviceOf, environment));
    yield;
  }
  const tokens = new Map<string, Token>();
  for (const token of snapshot.tokens) {
    for (const [hash, compiled] of compileToken(token)) tokens.set(hash, compiled);
    yield;
  }
  for (const element of snapshot.unreadable ?? []) {
    if (element.kind === 'route') addRoute(unreadableRoute(element, environment));
    else report(element);
    yield;
  }
  const routes = new Map<string, CompiledRoute>();
  const refusedNames = new Map<string, RefusedName>();
  for (const [name, claimants] of byName) {
    const assigned = assignName(name, claimants);
    if (assigned === undefined) continue;
    if ('claimants' in assigned) {
      refusedNames.set(name, assigned);
      for (const refusal of refusalsOf(assigned)) report(refusal);
    } else routes.set(name, assigned);
    yield;
  }
  const matches = yield* RouteMatches.of([...byName.values()].flat().map(withWays));
  return {
    ...environment,
    version: snapshot.version,
    services: LayeredMap.of(services),
    routes: LayeredMap.of(routes),
    refusedNames: LayeredMap.of(refusedNames),
    matches,
    tokens: LayeredMap.of(tokens),
    unusable: LayeredMap.of(unusable),
  };
}

/** One entry per secret of the token, keyed by the hash of the secret. */
export function* compileToken(token: SnapshotToken): Generator<[string, Token]> {
  for (const secret of token.secrets) {
    yield [
      secret.sha256,
      {
        id: token.id,
        environments: token.environments,
        routes: new Set(token.routes),
        mayProxy: token.scopes.includes('proxy') || token.scopes.includes('*'),
        expiresAtMs: secret.expires_at_ms ?? Infinity,
      },
    ];
  }
}
