import type { ManagementClient } from '@gateway/local-stack/stack/management-client';

/**
 * Makes one of many changes: a route that is far from the one before gets another method.
 *
 * @returns the number of the route, from 1, and the method that it has now
 */
export async function changeRoute(
  client: ManagementClient,
  routeIds: readonly string[],
  change: number,
): Promise<{ readonly route: number; readonly method: string }> {
  const route = 1 + ((change * 97) % routeIds.length);
  const method = change % 2 === 0 ? 'PATCH' : 'DELETE';
  await client.patch(`/v1/routes/${routeIds[route - 1] ?? ''}`, { methods: [method] });
  return { route, method };
}
