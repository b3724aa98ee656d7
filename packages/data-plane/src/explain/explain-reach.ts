import {
  conditionsOf,
  isBelow,
  isReserved,
  type MatchCondition,
  type RouteMatch,
} from '@gateway/shared/definitions/route-match';
import type { AskedRoute } from '@gateway/shared/explain/explain-messages';
import type { ReachedBy } from '@gateway/shared/explain/explanation';
import { normalHost, normalPath } from '@gateway/shared/http/normal-path';
import type { InboundHeaders } from '../request/inbound-headers.ts';
import { valueOf, type Reached, type ReachOptions } from '../request/reach-route.ts';
import { withWays, type RoutingTable } from '../routing-table/routing-table.ts';

/** Where a request by host and path goes. */
export interface ReachFinding {
  readonly reachedBy: ReachedBy;
  /** Whether something else than the route that is asked about answers. */
  readonly isElsewhere: boolean;
}

interface MatchedRequest {
  readonly inbound: InboundHeaders;
  readonly host: string;
  readonly path: string;
}

/** Says by which way a request reaches the route that is asked about, or why another one gets it. */
export function explainReach(
  asked: AskedRoute,
  { inbound, target, isProxied }: Reached,
  table: RoutingTable,
  { environmentOf }: ReachOptions,
): ReachFinding {
  const { routeName, hostEnvironment, path } = target;
  const environment = hostEnvironment ?? environmentOf(table, inbound);
  const request = { inbound, host: normalHost(inbound.host ?? ''), path: normalPath(path) };
  if (routeName === '') {
    const isElsewhere = !isProxied || environment !== asked.environment;
    const reason =
      hostEnvironment === undefined
        ? 'No way to a route takes the request: it goes on to the control plane.'
        : 'Routes name this host, and no way to one of them takes the request.';
    return { isElsewhere, reachedBy: { environment: null, route: null, way: null, reason } };
  }
  if (target.preflight !== undefined) {
    const isElsewhere = environment !== asked.environment || routeName !== asked.name;
    const reason = isElsewhere
      ? 'The preflight is for a request to another route.'
      : 'The preflight is for a request to this route, unless the values of its headers lead to another one.';
    return { isElsewhere, reachedBy: { environment, route: routeName, way: null, reason } };
  }
  const way = bestWay(matchesOf(table, environment, routeName), request);
  const isAsked = environment === asked.environment && routeName === asked.name;
  const own = bestWay(matchesOf(table, asked.environment, asked.name), request);
  const reachedBy = {
    environment,
    route: routeName,
    way: way === undefined ? null : asMatch(way),
    reason: isAsked
      ? 'The request takes this way, the most specific one that takes it.'
      : reasonOfOther(way, own),
  };
  return { isElsewhere: !isAsked, reachedBy };
}

function matchesOf(table: RoutingTable, environment: string, name: string): readonly RouteMatch[] {
  const found = table.environments.get(environment);
  const route = found?.routes.get(name) ?? found?.refusedNames.get(name)?.route;
  if (route === undefined) return [];
  return withWays(route).match;
}

/** The most specific of these ways that takes a request. */
function bestWay(
  matches: readonly RouteMatch[],
  request: MatchedRequest,
): MatchCondition | undefined {
  let best: MatchCondition | undefined;
  for (const match of matches) {
    for (const way of conditionsOf(match)) {
      if (!takes(way, request)) continue;
      const rank = best === undefined ? undefined : differenceOf(way, best);
      if (best === undefined || (rank !== undefined && rank.by > 0)) best = way;
    }
  }
  return best;
}

function takes(way: MatchCondition, { inbound, host, path }: MatchedRequest): boolean {
  // The gateway serves these itself where no host is named.
  if (way.host === '' && isReserved(path)) return false;
  const isOnHost =
    way.host === '' ||
    way.host === host ||
    (way.host.startsWith('*') && host.endsWith(way.host.slice(1)));
  const isAtPath = way.isExact ? way.path === path : way.path === '/' || isBelow(path, way.path);
  return (
    isOnHost && isAtPath && way.headers.every(([name, value]) => valueOf(inbound, name) === value)
  );
}

/** In which respect a way is more specific than another one that takes the same request, in the order of the respects. */
const RESPECTS = [
  [
    'host',
    ({ host }: MatchCondition) => (host.startsWith('*') ? host.length : host === '' ? 0 : Infinity),
  ],
  ['path', ({ isExact, path }: MatchCondition) => (isExact ? Infinity : path.length)],
  ['headers', ({ headers }: MatchCondition) => headers.length],
] as const;

function differenceOf(way: MatchCondition, other: MatchCondition) {
  for (const [respect, rankOf] of RESPECTS) {
    const [mine, theirs] = [rankOf(way), rankOf(other)];
    if (mine !== theirs) return { respect, by: mine > theirs ? 1 : -1 };
  }
  return undefined;
}

const OTHER_REASONS = {
  host: 'the host of its way is more specific',
  path: 'the path of its way is more specific',
  headers: 'its way has more headers',
} as const;

function reasonOfOther(way: MatchCondition | undefined, own: MatchCondition | undefined): string {
  if (own === undefined)
    return 'No way of this route takes the request; one of another route does.';
  const respect = way && differenceOf(way, own)?.respect;
  const why = respect === undefined ? 'its name comes first' : OTHER_REASONS[respect];
  return `A way of this route takes the request, but another route gets it: ${why}.`;
}

function asMatch({ host, isExact, path, headers }: MatchCondition): RouteMatch {
  return {
    hosts: host === '' ? [] : [host],
    paths: [isExact ? { exact: path } : { prefix: path }],
    headers: headers.map(([name, value]) => ({ name, value })),
  };
}
