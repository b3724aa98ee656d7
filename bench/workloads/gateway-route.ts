import type { ManagementClient } from '@gateway/local-stack/stack/management-client';
import { createProxyToken, createRoute } from '../lab/management.ts';
import type { Configured } from '../peers/gateway-configuration.ts';

/** Configures the route of a workload, with its service, and a token. `path` is added to the URL of the upstream. */
export function oneRoute(route: object = {}, path = '') {
  return async (client: ManagementClient, upstreamUrl: string): Promise<Configured> => {
    const service = { url: `${upstreamUrl}${path}` };
    await createRoute(client, 'orders', { service, route });
    const secret = await createProxyToken(client, 'bench', ['orders']);
    return { authorization: `Bearer ${secret}`, shape: {} };
  };
}
