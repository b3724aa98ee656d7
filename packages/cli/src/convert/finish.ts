import type { Conversion, RouteDraft, Way } from './draft.ts';
import { MAX_METHODS } from './values.ts';
import {
  bounded,
  compare,
  conditionsOf,
  hostRank,
  keyOf,
  meet,
  pathRank,
  type Condition,
} from './ways.ts';

/** The rules that hold between routes, whatever their source: no two ways are the same, and nothing opens silently. */
export function finish(conversion: Conversion): void {
  for (const route of conversion.routes) keepOffReserved(route);
  separateWays(conversion.routes);
  for (const route of conversion.routes) keepWithinBounds(route);
  for (const route of conversion.routes.filter(isKept)) writeFields(route);
  keepGuarded(conversion);
  for (const route of conversion.routes.filter(isKept)) writeAccess(route);
}

const isKept = ({ leftOut }: RouteDraft): boolean => leftOut === undefined;

const RESERVED = ['/v1', '/console', '/docs'];

/** A way without a host cannot begin with a path of the gateway itself, nor any way with `/v1/proxy`. */
function keepOffReserved(route: RouteDraft): void {
  if (route.leftOut !== undefined) return;
  route.ways = route.ways.flatMap((way) => {
    const reserved = way.hosts.length === 0 ? RESERVED : ['/v1/proxy'];
    const isReserved = ({ path }: { path: string }) =>
      reserved.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
    const taken = way.paths.filter(isReserved);
    if (taken.length === 0) return [way];
    for (const { path } of taken) {
      route.missing(
        route.place,
        `the path ${path}: the gateway serves it itself${way.hosts.length === 0 ? ' where no host is named; name the host with --host' : ''}`,
        'match',
      );
    }
    const paths = way.paths.filter((path) => !isReserved(path));
    return paths.length === 0 ? [] : [{ ...way, paths }];
  });
  if (route.ways.length === 0) route.leftOut = 'nothing is left that leads to it';
}

/** Of two routes with the same host, path and headers the first keeps them. The method is no condition here. */
function separateWays(routes: readonly RouteDraft[]): void {
  const owners = new Map<string, RouteDraft>();
  for (const route of routes.filter(({ leftOut }) => leftOut === undefined)) {
    const conditions = [...conditionsOf(route.ways)];
    const taken = conditions.find((condition) => owners.has(keyOf(condition)));
    const owner = taken && owners.get(keyOf(taken));
    if (owner !== undefined && join(owner, route)) continue;
    const free = conditions.filter((condition) => !owners.has(keyOf(condition)));
    for (const condition of free) owners.set(keyOf(condition), route);
    if (owner === undefined) continue;
    const text = `the same host, path and headers as the route ${owner.name} (${owner.place}): methods and other conditions do not tell routes apart here`;
    if (free.length === 0) route.leftOut = text;
    else {
      route.missing(route.place, `ways with ${text}`, 'match');
      route.lost.push(...route.ways);
      route.ways = free.map(wayOf);
    }
  }
}

function wayOf({ host, path, headers }: Condition): Way {
  return { hosts: host === '' ? [] : [host], paths: [path], headers };
}

/** Two routes that differ in their methods only are one. */
function join(owner: RouteDraft, route: RouteDraft): boolean {
  const settings = (one: RouteDraft) =>
    JSON.stringify([[...one.fields].sort(), one.access, one.ways, one.rewriteValue()]);
  if (settings(owner) !== settings(route)) return false;
  const methods =
    owner.methods === null || route.methods === null
      ? null
      : [...new Set([...owner.methods, ...route.methods])];
  if (methods !== null && methods.length > MAX_METHODS) return false;
  owner.methods = methods;
  owner.note(route.place, `the route ${route.name} is a part of this one: only its methods differ`);
  owner.remarks.push(...route.remarks);
  route.leftOut = '';
  return true;
}

function keepWithinBounds(route: RouteDraft): void {
  const { kept, cut } = bounded(route.ways);
  route.ways = [...kept];
  if (cut.length === 0) return;
  route.lost.push(...cut);
  const text =
    'some hosts and paths: a route has at most 16 ways and 256 combinations of a host and a path';
  route.missing(route.place, text, 'match');
}

/**
 * A route that is open in the source stays open only if it gets no request that another one guards there. Such requests
 * come to it if the other one could not be converted, or if the source chooses between routes in another order.
 */
function keepGuarded({ routes, hostComesFirst }: Conversion): void {
  const guarded = routes.filter((route) => route.leftOut !== '' && isGuarded(route));
  for (const route of routes) {
    const isAnswer = route.fields.has('respond') || route.fields.has('redirect');
    if (route.access !== 'open' || route.leftOut !== undefined || isAnswer) continue;
    const other = guarded.find((one) => mayTake(route, one, hostComesFirst));
    if (other === undefined) continue;
    route.access = 'guarded';
    route.different(
      route.place,
      `it is open in the source, but asks for a token of the gateway here: requests that ${other.name} (${other.place}) guards could come to it. Set auth.type to none if that is right`,
      'auth',
    );
  }
}

function isGuarded({ access, fields }: RouteDraft): boolean {
  const answer = fields.get('respond') as { readonly status: number } | undefined;
  return access !== 'open' || (answer?.status ?? 0) >= 400;
}

/** Whether an open route may get a request that a guarded one gets in the source. */
function mayTake(open: RouteDraft, guarded: RouteDraft, hostComesFirst: boolean): boolean {
  const { methods } = guarded;
  if (
    open.methods !== null &&
    methods !== null &&
    !open.methods.some((one) => methods.includes(one))
  ) {
    return false;
  }
  const kept = guarded.leftOut === undefined ? guarded.ways : [];
  const lost = guarded.leftOut === undefined ? guarded.lost : [...guarded.ways, ...guarded.lost];
  const isFirst = (one: Condition, other: Condition) =>
    open.priority >= guarded.priority &&
    (open.criteria > guarded.criteria ||
      (open.criteria === guarded.criteria && isMoreSpecific(one, other, hostComesFirst)));
  for (const one of conditionsOf(open.ways)) {
    for (const other of conditionsOf(lost)) {
      if (meet(one, other) && !isFirst(one, other)) return true;
    }
    for (const other of conditionsOf(kept)) {
      // What both could get, the guarded one gets if its way is the more specific one.
      if (meet(one, other) && compare(one, other) >= 0 && !isFirst(one, other)) return true;
    }
  }
  return false;
}

/** Whether the source surely gives the first condition what both could get. */
function isMoreSpecific(one: Condition, other: Condition, hostComesFirst: boolean): boolean {
  const host = hostRank(one.host) - hostRank(other.host);
  if (host < 0) return false;
  if (host > 0 && hostComesFirst) return true;
  if (other.path.kind === 'characters') return one.path.kind === 'exact';
  const path = pathRank(one.path) - pathRank(other.path);
  return path > 0 || (path === 0 && (host > 0 || one.headers.length > other.headers.length));
}

/** Of header fields or parameters that are set, added or removed. */
const MAX_CHANGES = 32;

/** Fields of a route that answers by itself. */
const OF_ANSWERS = new Set(['respond', 'redirect', 'status', 'cors', 'rate_limit', 'idempotency']);

function writeFields(route: RouteDraft): void {
  const { fields } = route;
  if (fields.has('respond') || fields.has('redirect')) {
    for (const name of fields.keys()) if (!OF_ANSWERS.has(name)) fields.delete(name);
    if (route.dropRewrite()) {
      const text = 'changes of header fields: an answer of the gateway itself has none';
      route.missing(route.place, text, 'respond');
    }
  }
  if (route.cutChanges(MAX_CHANGES)) {
    const text = `more than ${MAX_CHANGES} changes of one kind: only the first ones are there`;
    route.missing(route.place, text, 'rewrite');
  }
  const rewrite = route.rewriteValue();
  if (rewrite !== undefined) fields.set('rewrite', rewrite);
  if (route.methods !== null) fields.set('methods', route.methods);
  const match = route.ways.map(({ hosts, paths, headers }) => ({
    ...(hosts.length > 0 && { hosts }),
    ...(paths.length > 0 && { paths: paths.map(({ kind, path }) => ({ [kind]: path })) }),
    ...(headers.length > 0 && { headers }),
  }));
  if (match.length > 0) fields.set('match', match);
}

function writeAccess(route: RouteDraft): void {
  const type = { open: 'none', api_key: 'api_key', guarded: 'token' }[route.access];
  route.fields.set('auth', { type });
  if (route.access === 'open') {
    route.note(
      route.place,
      'the source asks its callers for nothing, so anybody may call it',
      'auth',
    );
  }
}
