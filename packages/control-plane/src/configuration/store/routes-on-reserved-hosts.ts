import { patternsOf } from '@gateway/shared/definitions/route-match';
import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';

/** The most routes that are named. */
const SHOWN = 100;

export interface RouteOnReservedHost {
  readonly route: string;
  readonly environment: string;
  /** As the route names it. */
  readonly host: string;
}

/** Routes that name a reserved host, because it was reserved after they were stored; at most 100. */
export async function routesOnReservedHosts(
  db: Database,
  reserved: readonly string[],
): Promise<readonly RouteOnReservedHost[]> {
  if (reserved.length === 0) return [];
  const patterns = reserved.flatMap((host) => [...patternsOf(host)]);
  const below = reserved.flatMap((host) => (host.startsWith('*.') ? [`%${host.slice(1)}`] : []));
  const { rows } = await sql<RouteOnReservedHost>`
    SELECT DISTINCT routes.name AS route, routes.environment, host
    FROM route_matches JOIN routes ON routes.id = route_id
    WHERE host = ANY(${patterns}::text[]) OR host LIKE ANY(${below}::text[])
    ORDER BY routes.environment, routes.name, host LIMIT ${sql.lit(SHOWN)}
  `.execute(db);
  return rows;
}
