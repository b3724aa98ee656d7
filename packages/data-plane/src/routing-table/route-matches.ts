import {
  conditionsOf,
  isReserved,
  MAX_HOST_CHARS,
  MAX_PATH_CHARS,
  patternsOf,
  type RouteMatch,
} from '@gateway/shared/definitions/route-match';
import type { Steps } from '@gateway/shared/pace';
import { LayeredMap, type Lookup } from './layered-map.ts';

/** Ways without a host are kept under this one. */
const EVERY_HOST = '';

/** A route and the ways to it. */
export interface MatchedRoute {
  readonly id: string;
  readonly name: string;
  readonly match: readonly RouteMatch[];
}

/** What is known of a host pattern. */
interface HostUse {
  /** How many ways name it. */
  readonly ways: number;
  /** The most segments of its path prefixes, now or since it was first named. */
  readonly depth: number;
}

/** Names of header fields that ways with one host and path look at, in lower case and in order. */
interface FieldNames {
  readonly names: readonly string[];
  /** All of them: two with equal texts are equal. */
  readonly text: string;
  readonly ways: number;
  /** How many of the ways lead to each route, by its name. Empty without header fields: then the target is known. */
  readonly routes: ReadonlyMap<string, number>;
}

/** More routes that differ only in the values of header fields are not searched. */
const MAX_FOUND = 16;

/** A route that a way leads to. Several only if the configuration contradicts itself. */
export interface ReachedWay {
  readonly routeId: string;
  readonly routeName: string;
  /** Exact, or with a leading `*.`; empty: every host. */
  readonly host: string;
  /** In normal form; undefined: the path is exact. */
  readonly prefix: string | undefined;
}

/** Returns the value of a header field, its lines joined by a comma and a space; undefined if the request lacks it. */
export type HeaderValue = (name: string) => string | undefined;

interface Layers {
  /** By host pattern. */
  readonly hosts: LayeredMap<HostUse>;
  /** By host and path: what to look at, more fields first. */
  readonly fields: LayeredMap<readonly FieldNames[]>;
  /** By host, path and values of header fields. */
  readonly targets: LayeredMap<readonly ReachedWay[]>;
}

/**
 * Finds the route of a request by its host, path and header fields. Immutable: a changed one shares what has not changed.
 * The time of a search depends on the request, on the depth of prefixes and on how many sets of header names the ways of
 * one host and path have, not on the number of routes.
 *
 * The most specific way wins: the exact host, then the longest wildcard, then ways without a host; of these the exact
 * path, then the longest prefix; of these the one with more header fields; then the first route by name.
 */
export class RouteMatches {
  static readonly NONE = new RouteMatches({
    hosts: LayeredMap.of<HostUse>(new Map()),
    fields: LayeredMap.of<readonly FieldNames[]>(new Map()),
    targets: LayeredMap.of<readonly ReachedWay[]>(new Map()),
  });

  readonly #layers: Layers;

  private constructor(layers: Layers) {
    this.#layers = layers;
  }

  /** The ways to all these routes, one route per step. */
  static *of(routes: Iterable<MatchedRoute>): Steps<RouteMatches> {
    const edit = new Edit(RouteMatches.NONE.#layers);
    for (const route of routes) {
      edit.add(route);
      yield;
    }
    return new RouteMatches(edit.layers());
  }

  get isEmpty(): boolean {
    return this.#layers.hosts.size === 0;
  }

  /** Whether some way has no host. */
  get hasEveryHost(): boolean {
    return this.#layers.hosts.has(EVERY_HOST);
  }

  /** Without some routes, and with others. */
  with(removed: Iterable<MatchedRoute>, added: Iterable<MatchedRoute>): RouteMatches {
    const edit = new Edit(this.#layers);
    for (const route of removed) edit.remove(route);
    for (const route of added) edit.add(route);
    return edit.isUnchanged ? this : new RouteMatches(edit.layers());
  }

  /** Whether a route names the host, exactly or by a wildcard. */
  claims(host: string): boolean {
    for (const pattern of patternsMet(host)) if (this.#layers.hosts.has(pattern)) return true;
    return false;
  }

  /**
   * The way that a request takes; undefined: none.
   *
   * @param host in normal form
   * @param path in normal form
   */
  find(host: string, path: string, headerValue: HeaderValue): ReachedWay | undefined {
    for (const pattern of patternsMet(host)) {
      const found = this.#findOn(pattern, path, headerValue);
      if (found !== undefined) return found;
    }
    // The gateway serves these itself where no host is named.
    if (isReserved(path)) return undefined;
    return this.#findOn(EVERY_HOST, path, headerValue);
  }

  /**
   * The names of all routes that a request may reach, the most specific first, if only the names of its header fields are
   * known; undefined: more than `MAX_FOUND`.
   *
   * @param mayHave whether the request may have the field
   */
  findAll(
    host: string,
    path: string,
    mayHave: (name: string) => boolean,
  ): readonly string[] | undefined {
    const { fields, targets } = this.#layers;
    const found = new Set<string>();
    for (const key of this.#keysMet(host, path)) {
      for (const { names, routes } of fields.get(key) ?? []) {
        if (!names.every(mayHave)) continue;
        const isCertain = names.length === 0;
        const first = isCertain ? targets.get(key)?.[0]?.routeName : undefined;
        for (const name of first === undefined ? routes.keys() : [first]) found.add(name);
        if (found.size > MAX_FOUND) return undefined;
        if (isCertain) return [...found];
      }
    }
    return [...found];
  }

  /** The hosts and paths of ways that a request meets, in the order of `find`. */
  *#keysMet(host: string, path: string): Generator<string> {
    const patterns = [...patternsMet(host), ...(isReserved(path) ? [] : [EVERY_HOST])];
    for (const pattern of patterns) {
      const use = this.#layers.hosts.get(pattern);
      if (use === undefined) continue;
      if (path.length <= MAX_PATH_CHARS) yield keyOf(pattern, true, path);
      for (const end of segmentEnds(path, use.depth).toReversed()) {
        yield keyOf(pattern, false, path.slice(0, end));
      }
      yield keyOf(pattern, false, '/');
    }
  }

  #findOn(pattern: string, path: string, headerValue: HeaderValue): ReachedWay | undefined {
    const use = this.#layers.hosts.get(pattern);
    if (use === undefined) return undefined;
    const exact =
      path.length > MAX_PATH_CHARS
        ? undefined
        : this.#findBy(keyOf(pattern, true, path), headerValue);
    if (exact !== undefined) return exact;
    const ends = segmentEnds(path, use.depth);
    for (let at = ends.length - 1; at >= 0; at -= 1) {
      const found = this.#findBy(keyOf(pattern, false, path.slice(0, ends[at])), headerValue);
      if (found !== undefined) return found;
    }
    return this.#findBy(keyOf(pattern, false, '/'), headerValue);
  }

  #findBy(key: string, headerValue: HeaderValue): ReachedWay | undefined {
    let best: ReachedWay | undefined;
    let bestCount = 0;
    for (const { names } of this.#layers.fields.get(key) ?? []) {
      if (best !== undefined && names.length < bestCount) break;
      const values = names.map(headerValue);
      if (values.includes(undefined)) continue;
      const way = this.#layers.targets.get(targetKey(key, names, values))?.[0];
      if (way === undefined || (best !== undefined && best.routeName < way.routeName)) continue;
      best = way;
      bestCount = names.length;
    }
    return best;
  }
}

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

/** Adds and removes the ways to routes. */
class Edit {
  readonly #before: Layers;
  readonly #hosts: Draft<HostUse>;
  readonly #fields: Draft<readonly FieldNames[]>;
  readonly #targets: Draft<readonly ReachedWay[]>;
  /** Maps that this edit has made, and may change. */
  readonly #made = new Set<ReadonlyMap<string, number>>();

  constructor(before: Layers) {
    this.#before = before;
    this.#hosts = new Draft(before.hosts);
    this.#fields = new Draft(before.fields);
    this.#targets = new Draft(before.targets);
  }

  get isUnchanged(): boolean {
    return this.#targets.changes.size === 0;
  }

  layers(): Layers {
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

/** No host and no path in normal form has a space. */
function keyOf(host: string, isExact: boolean, path: string): string {
  return `${host}${isExact ? ' = ' : ' '}${path}`;
}

function targetKey(
  key: string,
  names: readonly string[],
  values: readonly (string | undefined)[],
): string {
  return names.length === 0 ? key : `${key} ${names.join()} ${JSON.stringify(values)}`;
}

const NO_PATTERNS: readonly string[] = [];

/** The patterns that a request meets by its host. A longer host is none that a route can name. */
function patternsMet(host: string): Iterable<string> {
  return host === '' || host.length > MAX_HOST_CHARS ? NO_PATTERNS : patternsOf(host);
}

/** Where the first segments of a path end, at most `count` of them, of which no prefix is too long. */
function segmentEnds(path: string, count: number): number[] {
  const ends: number[] = [];
  for (let from = 1; ends.length < count && from < path.length;) {
    const slash = path.indexOf('/', from);
    const end = slash === -1 ? path.length : slash;
    if (end > MAX_PATH_CHARS) break;
    ends.push(end);
    from = end + 1;
  }
  return ends;
}
