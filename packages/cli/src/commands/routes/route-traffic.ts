import { ApiError, type components, type GatewayClient } from '@gateway/client';

type Route = Pick<components['schemas']['Route'], 'environment' | 'name'>;
type Counts = components['schemas']['RouteStatistics']['routes'][number];

/** The traffic of a route in the last hour; undefined: it had no requests. */
export type TrafficOf = (route: Route) => Counts | undefined;

/** The API counts so many routes at once. */
const MAX_ROUTES = 200;
/** Names are a part of the URL. */
const MAX_NAMES_CHARS = 6000;

/**
 * Reads the traffic of these routes in the last hour.
 * @returns undefined if the token may not read it
 */
export async function routeTraffic(
  client: GatewayClient,
  routes: readonly Route[],
): Promise<TrafficOf | undefined> {
  const counts = new Map<string, Counts>();
  try {
    for (const [environment, own] of Map.groupBy(routes, (route) => route.environment)) {
      for (const names of batches(own.map(({ name }) => name))) {
        const query = { environment, names: names.join(','), limit: MAX_ROUTES };
        const { body } = await client.get('/v1/stats/routes', { params: { query } });
        for (const one of body.data.routes) counts.set(`${environment} ${one.route}`, one);
      }
    }
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return undefined;
    throw error;
  }
  return ({ environment, name }) => counts.get(`${environment} ${name}`);
}

function batches(names: readonly string[]): string[][] {
  const all: string[][] = [];
  let chars = 0;
  for (const name of names) {
    const last = all.at(-1);
    chars += name.length + 1;
    if (last !== undefined && last.length < MAX_ROUTES && chars <= MAX_NAMES_CHARS) {
      last.push(name);
    } else {
      all.push([name]);
      chars = name.length + 1;
    }
  }
  return all;
}
