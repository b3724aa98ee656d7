import { ApiError } from '@gateway/client';
import { FailedError } from '../program/exit-codes.ts';
import type { Session } from '../session.ts';
import { suggestRoutes } from './suggest-names.ts';

/**
 * Refuses the name of a route that does not exist, after a search has found nothing: a misspelt name must not be mistaken
 * for a route without requests. Records of a route that was deleted can still be found.
 * @throws FailedError that names similar routes
 */
export async function checkRoute(session: Session, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  const { client, environment } = session;
  const query = { name, limit: 1, ...(environment === undefined ? {} : { environment }) };
  try {
    const { body } = await client.get('/v1/routes', { params: { query } });
    if (body.data.length > 0) return;
  } catch (error) {
    // A token for requests only.
    const isRefused = error instanceof ApiError && (error.status === 401 || error.status === 403);
    if (!isRefused) throw error;
    session.note(`The token may not read routes, so it is not known whether ${name} is one.`);
    return;
  }
  throw new FailedError(`there is no route ${name}${await suggestRoutes(session, name)}`);
}
