import { ApiError } from '@gateway/client';
import { FailedError } from '../program/exit-codes.ts';
import type { Session } from '../session.ts';
import { suggestEnvironments } from './suggest-names.ts';

/**
 * Refuses an environment that does not exist. The lists of the API are empty for one, which a misspelt name must not
 * be mistaken for.
 * @throws FailedError that names similar environments
 */
export async function checkEnvironment({ client, environment }: Session): Promise<void> {
  if (environment === undefined) return;
  await readEnvironment({ client }, environment);
}

/** Reads an environment. @throws as `checkEnvironment` */
export async function readEnvironment({ client }: Pick<Session, 'client'>, name: string) {
  try {
    return (await client.get('/v1/environments/{name}', { params: { path: { name } } })).body.data;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'environment_not_found') throw error;
    const hint = await suggestEnvironments({ client }, name);
    throw new FailedError(`there is no environment ${name}${hint}`, { cause: error });
  }
}
