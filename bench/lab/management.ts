import type { ManagementClient } from '@gateway/local-stack/stack/management-client';
import { z } from 'zod';

/** More than a load can use up. */
export const WIDE_QUOTA = { limit: 1_000_000_000, window_seconds: 60 };

const created = z.object({ data: z.object({ id: z.string() }) });
const issued = z.object({ data: z.object({ secret: z.string() }) });

/** Creates a service in production and returns its id. */
export async function createService(client: ManagementClient, service: object): Promise<string> {
  const body = { environment: 'production', ...service };
  return created.parse(await client.post('/v1/services', body)).data.id;
}

/** Creates a route and a service of its own with the same name; the quota is wide, unless the route has one. */
export async function createRoute(
  client: ManagementClient,
  name: string,
  { service, route = {} }: { readonly service: object; readonly route?: object },
): Promise<void> {
  const service_id = await createService(client, { name, ...service });
  await client.post('/v1/routes', { name, service_id, rate_limit: WIDE_QUOTA, ...route });
}

/** Creates a token with the scope `proxy` in production and returns the value of its Authorization header. */
export async function createProxyToken(
  client: ManagementClient,
  routes: readonly string[],
  name = 'bench',
): Promise<string> {
  const body = { name, environments: ['production'], routes, scopes: ['proxy'] };
  return `Bearer ${issued.parse(await client.post('/v1/tokens', body)).data.secret}`;
}
