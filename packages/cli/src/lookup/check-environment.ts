import type { Session } from '../session.ts';

/**
 * Refuses an environment that does not exist. The lists of the API are empty for one, which a misspelt name must not
 * be mistaken for.
 * @throws ApiError environment_not_found
 */
export async function checkEnvironment({ client, environment }: Session): Promise<void> {
  if (environment === undefined) return;
  await client.get('/v1/environments/{name}', { params: { path: { name: environment } } });
}
