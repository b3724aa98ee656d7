import { ApiError } from '@gateway/client';
import type { Session } from '../session.ts';
import { didYouMean } from '@gateway/shared/similar/did-you-mean';

const PAGE = 200;
/** Names beyond these are not compared: an error should come soon. */
const MAX_COMPARED = 2000;

type Asker = Pick<Session, 'client' | 'environment'>;

/** Where a name was looked for, and which routes have a similar one: ` in production; did you mean charges?` */
export function suggestRoutes({ client, environment }: Asker, name: string): Promise<string> {
  const query = { limit: PAGE, ...(environment === undefined ? {} : { environment }) };
  return suggest(name, environment, client.list('/v1/routes', { params: { query } }));
}

/** As `suggestRoutes`, of services. */
export function suggestServices({ client, environment }: Asker, name: string): Promise<string> {
  const query = { limit: PAGE, ...(environment === undefined ? {} : { environment }) };
  return suggest(name, environment, client.list('/v1/services', { params: { query } }));
}

/** As `suggestRoutes`, of environments, which are nowhere else. */
export function suggestEnvironments({ client }: Pick<Session, 'client'>, name: string) {
  const query = { limit: PAGE };
  return suggest(name, undefined, client.list('/v1/environments', { params: { query } }));
}

async function suggest(
  name: string,
  environment: string | undefined,
  items: AsyncIterable<{ readonly name: string }>,
): Promise<string> {
  const where = environment === undefined ? '' : ` in ${environment}`;
  const names: string[] = [];
  try {
    for await (const item of items) {
      names.push(item.name);
      if (names.length >= MAX_COMPARED) break;
    }
  } catch (error) {
    // A suggestion must not hide the error that it belongs to.
    if (!(error instanceof ApiError)) throw error;
  }
  return where + didYouMean(name, names);
}
