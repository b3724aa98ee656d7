import type { ManagementClient } from '@gateway/local-stack/stack/management-client';
import { createProxyToken, createRoute, createService, WIDE_QUOTA } from '../lab/management.ts';
import type { LoadShape } from '../load/wrk.ts';

/** What the load of a configured gateway sends. */
interface Configured {
  /** Value of the Authorization header. */
  readonly authorization: string;
  readonly shape: LoadShape;
}

/** Creates the routes, services and tokens of a row. */
export type Configure = (
  client: ManagementClient,
  upstreamUrl: string,
  databaseUrl: string,
) => Promise<Configured>;

const ROUTES = 10_000;
const TOKENS = 10_000;
const SERVICES = 100;
const UPSTREAMS_OF_EACH = 10;
/** The load calls this many of the routes in turn. */
const LOADED_ROUTES = 1_000;
const PARALLEL = 8;

/**
 * The full path: one service with one upstream, one route, and a token.
 *
 * @param route fields of the route, such as its quota, which otherwise is wide
 * @param path is added to the URL of the upstream
 */
export function oneRoute(route: object = {}, shape: LoadShape = {}, path = ''): Configure {
  return async (client, upstreamUrl) => {
    await createRoute(client, 'orders', { service: { url: upstreamUrl + path }, route });
    return { authorization: await createProxyToken(client, ['orders']), shape };
  };
}

/** 10 000 routes to 100 services with 10 upstreams each, and 10 000 tokens. */
export const manyRoutes: Configure = async (client, upstreamUrl) => {
  const serviceIds = await inParallel(SERVICES, async (index) => {
    return createService(client, {
      name: `service-${index}`,
      upstreams: Array.from({ length: UPSTREAMS_OF_EACH }, (_, at) => ({
        url: `${upstreamUrl}/${index}/${at}`,
      })),
      // Health checks are not part of what this row measures.
      health_check: { interval_ms: 300_000 },
    });
  });
  await inParallel(ROUTES, (index) =>
    client.post('/v1/routes', {
      name: `route-${index}`,
      service_id: serviceIds[index % SERVICES],
      rate_limit: WIDE_QUOTA,
    }),
  );
  await inParallel(TOKENS - 1, (index) =>
    createProxyToken(client, [`route-${index}`, `route-${(index + 1) % ROUTES}`], `t-${index}`),
  );
  const paths = Array.from({ length: LOADED_ROUTES }, (_, index) => {
    return `/v1/proxy/route-${Math.floor((index * ROUTES) / LOADED_ROUTES)}`;
  });
  return { authorization: await createProxyToken(client, ['*']), shape: { paths } };
};

/** Calls `make` with 0 to `count - 1`, a few calls at a time; returns the results in order. */
async function inParallel<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const results = new Array<T>(count);
  let next = 0;
  const work = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await make(index);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return results;
}
