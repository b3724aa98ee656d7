import {
  conditionsOf,
  patternsOf,
  type MatchCondition,
} from '@gateway/shared/definitions/route-match';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { covers, grantsScope, type TokenReach } from '@gateway/shared/tokens/scopes';
import { sql } from 'kysely';
import { settingsOf, type Route } from '../../routes/route.ts';
import type { Database } from '../../store/database.ts';
import { LOCK_CLASS } from '../../store/locks.ts';
import type { PlannedRow, RowChange } from '../row-change.ts';

/** A way to a route as the table `route_matches` has it. */
interface Way extends Omit<MatchCondition, 'headers'> {
  readonly headers: Readonly<Record<string, string>>;
  readonly route: PlannedRow<Route>;
  /** Of its item in `match`. */
  readonly index: number;
}

/** The most different sets of header names that the ways of one environment, host and path have. */
export const MAX_NAME_SETS = 16;

type Named = Pick<Route, 'name' | 'environment'>;

/**
 * Refuses routes that no request could tell apart, because two have a way with the same host, path and header fields; and
 * hosts that routes of another environment name, or that one of their wildcards covers; and more than 16 sets of header
 * names for one host and path. Until the end of the transaction
 * no other change gives routes such ways, so the answer stays true.
 *
 * @param reach whom the error may name routes to; undefined: the control plane itself
 * @throws GatewayError match_conflict
 */
export async function requireDistinctMatches(
  transaction: Database,
  changes: readonly RowChange[],
  reach: TokenReach | undefined,
): Promise<void> {
  const routes = changes.flatMap((change) => (change.kind === 'route' ? [change] : []));
  const ways = routes.flatMap(({ after }) => (after === null ? [] : [...waysTo(after)]));
  if (ways.length === 0) return;
  await sql`SELECT pg_advisory_xact_lock(${LOCK_CLASS.routeMatches}::int, 0)`.execute(transaction);
  const changed = routes.flatMap(({ before }) => (before === null ? [] : [before.id]));
  const twin = twinIn(ways) ?? (await storedTwin(transaction, ways, changed));
  if (twin !== undefined) throw sameWay(twin.way, twin.other, reach);
  const foreign = await foreignHost(transaction, ways, changed);
  if (foreign !== undefined) throw foreignHostError(foreign.way, foreign.other, reach);
  const before = routes.flatMap((change) =>
    change.before === null ? [] : [...waysTo(change.before)],
  );
  const further = await furtherNames(transaction, ways, before, changed);
  if (further !== undefined) throw tooManyNames(further);
}

/** A row of the history may be older than the setting. */
function* waysTo(route: PlannedRow<Route>): Generator<Way> {
  for (const [index, match] of settingsOf(route).match.entries()) {
    for (const { headers, ...condition } of conditionsOf(match)) {
      yield { ...condition, headers: Object.fromEntries(headers), route, index };
    }
  }
}

interface Conflict {
  readonly way: Way;
  readonly other: Named;
}

/** A place that ways share: a host and a path in an environment. */
function placeOf({ route, host, isExact, path }: Way): string {
  return JSON.stringify([route.environment, host, isExact, path]);
}

/** The names of the header fields of a way, in order. */
function namesOf({ headers }: Way): string {
  return Object.keys(headers).toSorted().join();
}

/**
 * A way whose set of header names is one too many for its host and path: a data plane looks at each set with each request.
 * A set that a route had before, or that another route has, does not count.
 */
async function furtherNames(
  transaction: Database,
  ways: readonly Way[],
  before: readonly Way[],
  changed: readonly string[],
): Promise<Way | undefined> {
  const keyOf = (way: Way) => `${placeOf(way)} ${namesOf(way)}`;
  const had = new Set(before.map(keyOf));
  const added = ways.filter((way) => namesOf(way) !== '' && !had.has(keyOf(way)));
  if (added.length === 0) return undefined;
  const given = [...new Map(added.map((way) => [keyOf(way), way])).values()];
  const stored = await otherNames(transaction, given, changed);
  const own = Map.groupBy(ways, placeOf);
  return given.find((way, at) => {
    const others = stored.get(at);
    if (others === undefined) return false;
    const names = (own.get(placeOf(way)) ?? []).map(namesOf).filter((one) => one !== '');
    return new Set([...others, ...names]).size > MAX_NAME_SETS;
  });
}

/**
 * The sets of header names that routes which are not changed have at the place of each of these ways, by its index; none
 * if one of them is the set of the way, which is found soon where thousands of routes differ in values alone.
 */
async function otherNames(
  transaction: Database,
  ways: readonly Way[],
  changed: readonly string[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const given = ways.map(({ route, host, isExact, path, headers }, at) => {
    const names = Object.keys(headers);
    return { at, environment: route.environment, host, is_exact: isExact, path, names };
  });
  const stored = sql`
    FROM route_matches WHERE environment = given.environment AND host = given.host
      AND is_exact = given.is_exact AND path = given.path AND headers <> '{}'
      AND NOT route_id = ANY(${[...changed]}::text[])
  `;
  const { rows } = await sql<{ at: number; names: readonly string[] | null }>`
    SELECT given.at, others.names
    FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
      AS given (at int, environment text, host text, is_exact boolean, path text, names text[])
    LEFT JOIN LATERAL (SELECT DISTINCT ARRAY(SELECT jsonb_object_keys(headers)) AS names ${stored})
      AS others ON true
    WHERE (
      SELECT true ${stored} AND headers ?& given.names
        AND (SELECT count(*) FROM jsonb_object_keys(headers)) = cardinality(given.names)
      LIMIT 1
    ) IS NULL
  `.execute(transaction);
  return new Map(
    [...Map.groupBy(rows, ({ at }) => at)].map(([at, found]) => [
      at,
      found.flatMap(({ names }) => (names === null ? [] : [names.toSorted().join()])),
    ]),
  );
}

/** Two routes of the change itself. */
function twinIn(ways: readonly Way[]): Conflict | undefined {
  const seen = new Map<string, Way>();
  for (const way of ways) {
    const { host, isExact, path, headers, route } = way;
    const key = JSON.stringify([route.environment, host, isExact, path, headers]);
    const other = seen.get(key);
    if (other !== undefined) return { way, other: other.route };
    seen.set(key, way);
  }
  return undefined;
}

/** A route that is not changed, with a way of one that is. */
async function storedTwin(
  transaction: Database,
  ways: readonly Way[],
  changed: readonly string[],
): Promise<Conflict | undefined> {
  const given = ways.map(({ route, host, isExact, path, headers }, at) => {
    return { at, environment: route.environment, host, is_exact: isExact, path, headers };
  });
  const { rows } = await sql<Named & { at: number }>`
    SELECT given.at, routes.name, routes.environment
    FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
      AS given (at int, environment text, host text, is_exact boolean, path text, headers jsonb)
    JOIN route_matches AS stored USING (environment, host, is_exact, path, headers)
    JOIN routes ON routes.id = stored.route_id
    WHERE NOT stored.route_id = ANY(${[...changed]}::text[])
    ORDER BY given.at LIMIT 1
  `.execute(transaction);
  return conflictOf(ways, rows[0]);
}

/** A route of another environment that names one of the hosts, or one that covers it or is covered by it. */
async function foreignHost(
  transaction: Database,
  ways: readonly Way[],
  changed: readonly string[],
): Promise<Conflict | undefined> {
  const given = ways.flatMap(({ route, host }, at) =>
    host === ''
      ? []
      : [
          {
            at,
            environment: route.environment,
            patterns: [...patternsOf(host)],
            below: below(host),
          },
        ],
  );
  if (given.length === 0) return undefined;
  const { rows } = await sql<Named & { at: number }>`
    SELECT given.at, routes.name, routes.environment
    FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
      AS given (at int, environment text, patterns text[], below text),
      LATERAL (
        SELECT route_id, environment FROM route_matches WHERE host = ANY(given.patterns)
        UNION ALL
        SELECT route_id, environment FROM route_matches
        WHERE reverse(host) COLLATE "C" >= given.below
          AND reverse(host) COLLATE "C" < given.below || '~'
      ) AS stored
    JOIN routes ON routes.id = stored.route_id
    WHERE stored.environment <> given.environment
      AND NOT stored.route_id = ANY(${[...changed]}::text[])
    ORDER BY given.at LIMIT 1
  `.execute(transaction);
  return conflictOf(ways, rows[0]);
}

function conflictOf(
  ways: readonly Way[],
  row: (Named & { readonly at: number }) | undefined,
): Conflict | undefined {
  const way = row && ways[row.at];
  return way && { way, other: row };
}

/** How all names below a wildcard begin when they are reversed; null: the host is exact. */
function below(host: string): string | null {
  return host.startsWith('*.') ? host.slice(1).split('').toReversed().join('') : null;
}

function sameWay(way: Way, other: Named, reach: TokenReach | undefined): GatewayError {
  return conflict(
    way,
    `The route ${way.route.name} and ${nameOf(other, reach)} both match ${whereOf(way)} with the same header fields.`,
    'is a match of another route too',
  );
}

function foreignHostError(way: Way, other: Named, reach: TokenReach | undefined): GatewayError {
  return conflict(
    way,
    `The host ${way.host} of the route ${way.route.name} overlaps with one of ${nameOf(other, reach)}: a host belongs to one environment.`,
    `has the host ${way.host}, which overlaps with one of another environment`,
  );
}

function tooManyNames(way: Way): GatewayError {
  const names = namesOf(way).replaceAll(',', ', ');
  return conflict(
    way,
    `The route ${way.route.name} cannot match ${whereOf(way)} by the header fields ${names}: routes look at ${MAX_NAME_SETS} different sets of header fields there, the most that are possible.`,
    `has one more set of header fields for its host and path than the ${MAX_NAME_SETS} that are possible`,
  );
}

function whereOf({ host, isExact, path }: Way): string {
  return `${isExact ? 'the path' : 'paths from'} ${path} on ${host === '' ? 'every host' : host}`;
}

function conflict({ index }: Way, message: string, detail: string): GatewayError {
  return new GatewayError('match_conflict', message, {
    details: [{ path: `match.${index}`, message: detail }],
  });
}

/** Only those who may read a route learn its name and its environment. */
function nameOf({ name, environment }: Named, reach: TokenReach | undefined): string {
  const mayRead =
    reach === undefined ||
    (grantsScope(reach.scopes, 'routes:read') &&
      covers(reach.environments, environment) &&
      covers(reach.routes, name));
  return mayRead ? `the route ${name} in ${environment}` : 'a route that the token does not cover';
}
