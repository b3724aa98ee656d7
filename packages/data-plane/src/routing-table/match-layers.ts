import type { RouteMatch } from '@gateway/shared/definitions/route-match';
import type { LayeredMap } from './layered-map.ts';

/** A route and the ways to it. */
export interface MatchedRoute {
  readonly id: string;
  readonly name: string;
  readonly match: readonly RouteMatch[];
}

/** A route that a way leads to. Several only if the configuration contradicts itself. */
export interface ReachedWay {
  readonly routeId: string;
  readonly routeName: string;
  /** Exact, or with a leading `*.`; empty: every host. */
  readonly host: string;
  /** In normal form; undefined: the path is exact. */
  readonly prefix: string | undefined;
}

/** What is known of a host pattern. */
export interface HostUse {
  /** How many ways name it. */
  readonly ways: number;
  /** The most segments of its path prefixes, now or since it was first named. */
  readonly depth: number;
}

/** Names of header fields that ways with one host and path look at, in lower case and in order. */
export interface FieldNames {
  readonly names: readonly string[];
  /** All of them: two with equal texts are equal. */
  readonly text: string;
  readonly ways: number;
  /** How many of the ways lead to each route, by its name. Empty without header fields: then the target is known. */
  readonly routes: ReadonlyMap<string, number>;
}

/** What the search of a request looks up. */
export interface MatchLayers {
  /** By host pattern. */
  readonly hosts: LayeredMap<HostUse>;
  /** By host and path: what to look at, more fields first. */
  readonly fields: LayeredMap<readonly FieldNames[]>;
  /** By host, path and values of header fields. */
  readonly targets: LayeredMap<readonly ReachedWay[]>;
}

/** Ways without a host are kept under this one. */
export const EVERY_HOST = '';

/** The key of a host and a path. No host and no path in normal form has a space. */
export function keyOf(host: string, isExact: boolean, path: string): string {
  return `${host}${isExact ? ' = ' : ' '}${path}`;
}

/** The key of a host, a path and the values of header fields. */
export function targetKey(
  key: string,
  names: readonly string[],
  values: readonly (string | undefined)[],
): string {
  return names.length === 0 ? key : `${key} ${names.join()} ${JSON.stringify(values)}`;
}
