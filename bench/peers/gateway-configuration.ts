import type { createManagementClient } from '@gateway/local-stack/stack/management-client';
import { z } from 'zod';
import type { LoadShape } from '../load/wrk.ts';

type Client = ReturnType<typeof createManagementClient>;

/** What a load of the configured gateway is made with. */
export interface Configured {
  /** Value of the Authorization header. */
  readonly authorization: string;
  readonly shape: LoadShape;
}

interface Quota {
  readonly limit: number;
  readonly window_seconds: number;
}

const created = z.object({ data: z.object({ id: z.string() }) });
const issued = z.object({ data: z.object({ secret: z.string() }) });

const ROUTES = 10_000;
const TOKENS = 10_000;
const SERVICES = 100;
const UPSTREAMS_OF_EACH = 10;
/** So many of the routes take turns under the load. */
const LOADED_ROUTES = 1_000;
const PARALLEL = 8;

/** One service with one upstream, one route, one token. */
export async function configureOne(
  client: Client,
  upstreamUrl: string,
  quota: Quota,
): Promise<Configured> {
  const service = { name: 'orders', environment: 'production', url: upstreamUrl };
  const service_id = created.parse(await client.post('/v1/services', service)).data.id;
  await client.post('/v1/routes', { name: 'orders', service_id, rate_limit: quota });
  return { authorization: await makeToken(client, 'bench', ['orders']), shape: {} };
}

/** A large configuration: 10 000 routes to 100 services with 10 upstreams each, and 10 000 tokens. */
export async function configureMany(client: Client, upstreamUrl: string): Promise<Configured> {
  const serviceIds = await inParallel(SERVICES, async (index) => {
    const body = {
      name: `service-${index}`,
      environment: 'production',
      upstreams: Array.from({ length: UPSTREAMS_OF_EACH }, (_, at) => ({
        url: `${upstreamUrl}/${index}/${at}`,
      })),
      // Their health is not what this row is about.
      health_check: { interval_ms: 300_000 },
    };
    return created.parse(await client.post('/v1/services', body)).data.id;
  });
  await inParallel(ROUTES, (index) =>
    client.post('/v1/routes', {
      name: `route-${index}`,
      service_id: serviceIds[index % SERVICES],
      rate_limit: { limit: 1_000_000_000, window_seconds: 60 },
    }),
  );
  await inParallel(TOKENS - 1, (index) =>
    makeToken(client, `token-${index}`, [`route-${index}`, `route-${(index + 1) % ROUTES}`]),
  );
  const paths = Array.from({ length: LOADED_ROUTES }, (_, index) => {
    return `/v1/proxy/route-${Math.floor((index * ROUTES) / LOADED_ROUTES)}`;
  });
  return { authorization: await makeToken(client, 'bench', ['*']), shape: { paths } };
}

/** Gives the header that a holder of the token sends. */
async function makeToken(client: Client, name: string, routes: readonly string[]): Promise<string> {
  const body = { name, environments: ['production'], routes, scopes: ['proxy'] };
  return `Bearer ${issued.parse(await client.post('/v1/tokens', body)).data.secret}`;
}

/** Does something so many times, a few at once; gives the results in order. */
async function inParallel<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const results = new Array<T>(count);
  let next = 0;
  const work = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await make(index);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return results;
}
