import { WIDE_QUOTA } from '../lab/management.ts';
import { seed, seededSecret, type Size } from '../lab/seed.ts';
import type { Configure } from '../peers/gateway.ts';

/** Seeds routes of one service, and tokens; the plain load calls the last route with the first token. */
export function configureSeeded(size: Omit<Size, 'services'>, route: object = {}): Configure {
  return async (client, upstreamUrl, databaseUrl) => {
    await seed(
      client,
      databaseUrl,
      { ...size, services: 1 },
      { service: { url: upstreamUrl }, route: { rate_limit: WIDE_QUOTA, ...route } },
    );
    const paths = [`/v1/proxy/route-${size.routes}`];
    return { authorization: `Bearer ${seededSecret(1)}`, shape: { paths } };
  };
}
