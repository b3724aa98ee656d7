import {
  isReserved,
  MAX_HOST_CHARS,
  MAX_PATH_CHARS,
  patternsOf,
} from '@gateway/shared/definitions/route-match';
import type { Steps } from '@gateway/shared/pace';
import { LayeredMap } from './layered-map.ts';
import { MatchEdit } from './match-edit.ts';
import {
  EVERY_HOST,
  keyOf,
  targetKey,
  type FieldNames,
  type HostUse,
  type MatchedRoute,
  type MatchLayers,
  type ReachedWay,
} from './match-layers.ts';

/** More routes that differ only in the values of header fields are not searched. */
const MAX_FOUND = 16;

/** Returns the value of a header field, its lines joined by a comma and a space; undefined if the request lacks it. */
export type HeaderValue = (name: string) => string | undefined;

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

  readonly #layers: MatchLayers;

  private constructor(layers: MatchLayers) {
    this.#layers = layers;
  }

  /** The ways to all these routes, one route per step. */
  static *of(routes: Iterable<MatchedRoute>): Steps<RouteMatches> {
    const edit = new MatchEdit(RouteMatches.NONE.#layers);
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
    const edit = new MatchEdit(this.#layers);
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
