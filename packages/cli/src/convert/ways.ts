import type { NameAndValue, Way, WayPath } from './draft.ts';

/** One host, path and list of headers of a route. */
export interface Condition {
  /** Empty: every host. */
  readonly host: string;
  readonly path: WayPath;
  readonly headers: readonly NameAndValue[];
}

const EVERYTHING: WayPath = { kind: 'prefix', path: '/' };

/** All conditions of these ways. */
export function* conditionsOf(ways: readonly Way[]): Generator<Condition> {
  for (const { hosts, paths, headers } of ways) {
    for (const host of hosts.length === 0 ? [''] : hosts) {
      for (const path of paths.length === 0 ? [EVERYTHING] : paths) yield { host, path, headers };
    }
  }
}

/** Two conditions that no request could tell apart have the same key. */
export function keyOf({ host, path, headers }: Condition): string {
  const sorted = headers.map(({ name, value }) => [name.toLowerCase(), value]).sort();
  return JSON.stringify([host, path.kind, path.path, sorted]);
}

/** Whether one request can meet both. */
export function meet(one: Condition, other: Condition): boolean {
  return hostsMeet(one.host, other.host) && pathsMeet(one.path, other.path);
}

function hostsMeet(one: string, other: string): boolean {
  if (one === '' || other === '' || one === other) return true;
  return isBelowHost(one, other) || isBelowHost(other, one);
}

/** Whether a pattern covers a host or a longer pattern. */
function isBelowHost(pattern: string, host: string): boolean {
  return pattern.startsWith('*') && host.endsWith(pattern.slice(1));
}

function pathsMeet(one: WayPath, other: WayPath): boolean {
  return isBelow(one, other) || isBelow(other, one);
}

/** Whether a path, or one that begins with it, can be met by the other. */
function isBelow({ path, kind }: WayPath, other: WayPath): boolean {
  if (kind === 'characters' || other.kind === 'characters') {
    // A regular expression may ignore case.
    return path.toLowerCase().startsWith(other.path.toLowerCase());
  }
  if (other.kind === 'exact') return kind === 'exact' ? path === other.path : false;
  const { path: prefix } = other;
  return prefix === '/' || path === prefix || path.startsWith(`${prefix}/`);
}

/** Which of two conditions gets a request that meets both; above 0: the first. */
export function compare(one: Condition, other: Condition): number {
  return (
    hostRank(one.host) - hostRank(other.host) ||
    pathRank(one.path) - pathRank(other.path) ||
    one.headers.length - other.headers.length
  );
}

export function hostRank(host: string): number {
  if (host === '') return 0;
  return host.startsWith('*') ? host.length : 1000;
}

export function pathRank({ kind, path }: WayPath): number {
  return kind === 'exact' ? 10_000 : path.length;
}

const MAX_ITEMS = 16;
const MAX_COMBINATIONS = 256;

/** The ways of a route within the bounds of `match`, and those that are too many. */
export function bounded(ways: readonly Way[]): { kept: readonly Way[]; cut: readonly Way[] } {
  const pieces = ways.flatMap(({ hosts, paths, headers }) =>
    chunks(hosts).flatMap((hosts) =>
      chunks(paths).map((paths): Way => ({ hosts, paths, headers })),
    ),
  );
  const kept: Way[] = [];
  let combinations = 0;
  for (const way of pieces) {
    combinations += Math.max(1, way.hosts.length) * Math.max(1, way.paths.length);
    if (kept.length === MAX_ITEMS || combinations > MAX_COMBINATIONS) break;
    kept.push(way);
  }
  return { kept, cut: pieces.slice(kept.length) };
}

function chunks<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length <= MAX_ITEMS) return [items];
  return [items.slice(0, MAX_ITEMS), ...chunks(items.slice(MAX_ITEMS))];
}
