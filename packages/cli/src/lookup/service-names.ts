import { ApiError } from '@gateway/client';
import type { Session } from '../session.ts';

/** The names of services by their ids. A service that the token may not read is named by its id. */
export async function serviceNames(
  { client }: Session,
  ids: readonly string[],
): Promise<(id: string) => string> {
  const names = new Map<string, string>();
  for (const id of new Set(ids)) {
    try {
      const { body } = await client.get('/v1/services/{id}', { params: { path: { id } } });
      names.set(id, body.data.name);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return (id) => names.get(id) ?? id;
}
