import type { ManagementClient } from '@gateway/local-stack/stack/management-client';
import { createProxyToken, createRoute, WIDE_QUOTA } from '../lab/management.ts';
import type { Run } from '../lab/run.ts';
import { seed, seededSecret, type Copied, type Size } from '../lab/seed.ts';
import type { LoadShape } from '../load/wrk.ts';

/** Where the load sends its requests. */
export const HOST = '127.0.0.1';

/** What the load of a configured gateway sends. */
interface Configured {
  /** Value of the Authorization header. */
  readonly authorization: string;
  readonly shape?: LoadShape;
}

/** Where a gateway is configured. */
interface Site extends Run {
  readonly upstreamUrl: string;
  readonly databaseUrl: string;
}

/** Creates the routes, services and tokens of a row. */
export type Configure = (client: ManagementClient, site: Site) => Promise<Configured>;

/**
 * The full path: one service with one upstream, one route, and a token.
 *
 * @param given.route fields of the route, such as its quota, which otherwise is wide
 * @param given.service fields of the service
 * @param given.path is added to the URL of the upstream
 */
export function oneRoute({
  route = {},
  service = {},
  shape = {},
  path = '',
}: {
  readonly route?: object;
  readonly service?: object;
  readonly shape?: LoadShape;
  readonly path?: string;
} = {}): Configure {
  return async (client, { upstreamUrl }) => {
    const url = upstreamUrl + path;
    await createRoute(client, 'orders', { service: { url, ...service }, route });
    return { authorization: await createProxyToken(client, ['orders']), shape };
  };
}

/** As `seeded`, and each route is reached by a host and a path of its own, which the load calls instead of its name. */
export function seededByPath(size: Size): Configure {
  return async (client, { upstreamUrl: url, databaseUrl }) => {
    await seed(client, databaseUrl, size, {
      service: { url },
      route: { rate_limit: WIDE_QUOTA },
      host: HOST,
    });
    const paths = [`/route-${size.routes}`];
    return { authorization: `Bearer ${seededSecret(1)}`, shape: { paths, isByPath: true } };
  };
}

/** Seeds services, routes and tokens; the load calls the last route with the first token, unless it says otherwise. */
export function seeded(
  size: Size,
  { service, route }: Partial<Copied> = {},
  shape: LoadShape = {},
): Configure {
  return async (client, { upstreamUrl: url, databaseUrl }) => {
    const copied = { service: service ?? { url }, route: { rate_limit: WIDE_QUOTA, ...route } };
    await seed(client, databaseUrl, size, copied);
    const paths = [`/v1/proxy/route-${size.routes}`];
    return { authorization: `Bearer ${seededSecret(1)}`, shape: { paths, ...shape } };
  };
}
