import { conditionsOf } from '@gateway/shared/definitions/route-match';
import type { Lookup } from './layered-map.ts';
import {
  keyOf,
  targetKey,
  type FieldNames,
  type HostUse,
  type MatchedRoute,
  type MatchLayers,
  type ReachedWay,
} from './match-layers.ts';

/** Adds and removes the ways to routes. What it does not change stays shared with the layers before. */
export class MatchEdit {
  readonly #before: MatchLayers;
  readonly #hosts: Draft<HostUse>;
  readonly #fields: Draft<readonly FieldNames[]>;
  readonly #targets: Draft<readonly ReachedWay[]>;
  /** Maps that this edit has made, and may change. */
  readonly #made = new Set<ReadonlyMap<string, number>>();

  constructor(before: MatchLayers) {
    this.#before = before;
    this.#hosts = new Draft(before.hosts);
    this.#fields = new Draft(before.fields);
    this.#targets = new Draft(before.targets);
  }

  get isUnchanged(): boolean {
    return this.#targets.changes.size === 0;
  }

  layers(): MatchLayers {
    const { hosts, fields, targets } = this.#before;
    return {
      hosts: hosts.with(this.#hosts.changes),
      fields: fields.with(this.#fields.changes),
      targets: targets.with(this.#targets.changes),
    };
  }

  add(route: MatchedRoute): void {
    for (const { host, key, names, target, segments, prefix } of waysTo(route)) {
      const { ways = 0, depth = 0 } = this.#hosts.get(host) ?? {};
      this.#hosts.changes.set(host, { ways: ways + 1, depth: Math.max(depth, segments) });
      const { id: routeId, name: routeName } = route;
      this.#count(key, names, routeName, 1);
      const others = this.#targets.get(target) ?? [];
      const all = [...others, { routeId, routeName, host, prefix }];
      this.#targets.changes.set(
        target,
        all.toSorted((a, b) => (a.routeName < b.routeName ? -1 : 1)),
      );
    }
  }

  remove(route: MatchedRoute): void {
    for (const { host, key, names, target } of waysTo(route)) {
      const { ways = 0, depth = 0 } = this.#hosts.get(host) ?? {};
      this.#hosts.changes.set(host, ways <= 1 ? undefined : { ways: ways - 1, depth });
      this.#count(key, names, route.name, -1);
      const left = this.#targets.get(target)?.filter(({ routeId }) => routeId !== route.id) ?? [];
      this.#targets.changes.set(target, left.length === 0 ? undefined : left);
    }
  }

  #count(key: string, names: readonly string[], routeName: string, by: 1 | -1): void {
    const all = this.#fields.get(key) ?? [];
    const text = names.join();
    const at = all.findIndex((one) => one.text === text);
    const known = all[at];
    const ways = (known?.ways ?? 0) + by;
    const routes = names.length === 0 ? NO_ROUTES : this.#counted(known?.routes, routeName, by);
    const counted = ways <= 0 ? [] : [{ names, text, ways, routes }];
    // A new one comes after those with as many names.
    const end = all.findLastIndex((one) => one.names.length >= names.length) + 1;
    const left =
      known === undefined ? all.toSpliced(end, 0, ...counted) : all.toSpliced(at, 1, ...counted);
    this.#fields.changes.set(key, left.length === 0 ? undefined : left);
  }

  #counted(
    before: ReadonlyMap<string, number> | undefined,
    routeName: string,
    by: 1 | -1,
  ): ReadonlyMap<string, number> {
    const isOwn = before !== undefined && this.#made.has(before);
    const routes = isOwn ? (before as Map<string, number>) : new Map(before);
    this.#made.add(routes);
    const count = (routes.get(routeName) ?? 0) + by;
    if (count <= 0) routes.delete(routeName);
    else routes.set(routeName, count);
    return routes;
  }
}

const NO_ROUTES: ReadonlyMap<string, number> = new Map();

/** Changes of a `LayeredMap` that are being made. */
class Draft<V> {
  readonly changes = new Map<string, V | undefined>();
  readonly #before: Lookup<V>;

  constructor(before: Lookup<V>) {
    this.#before = before;
  }

  get(key: string): V | undefined {
    return this.changes.has(key) ? this.changes.get(key) : this.#before.get(key);
  }
}

interface Way {
  readonly host: string;
  readonly key: string;
  readonly names: readonly string[];
  readonly target: string;
  readonly prefix: string | undefined;
  /** Of its prefix; 0: it has none. */
  readonly segments: number;
}

function* waysTo(route: MatchedRoute): Generator<Way> {
  for (const match of route.match) {
    for (const { host, isExact, path, headers } of conditionsOf(match)) {
      const key = keyOf(host, isExact, path);
      const names = headers.map(([name]) => name);
      const values = headers.map(([, value]) => value);
      const segments = isExact || path === '/' ? 0 : path.split('/').length - 1;
      const prefix = isExact ? undefined : path;
      yield { host, key, names, target: targetKey(key, names, values), prefix, segments };
    }
  }
}
