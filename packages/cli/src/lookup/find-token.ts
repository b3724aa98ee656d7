import type { Session } from '../session.ts';
import { collectItems } from './collect-items.ts';
import { idPattern, onlyMatch } from './only-match.ts';

const ID = idPattern('tok');

/** The id of a token that is given by name or id. Tokens may share a name. */
export async function tokenId({ client }: Session, nameOrId: string): Promise<string> {
  if (ID.test(nameOrId)) return nameOrId;
  const tokens = await collectItems(
    client.list('/v1/tokens', { params: { query: { limit: 200 } } }),
  );
  const found = tokens.filter(({ name }) => name === nameOrId);
  return onlyMatch(found, { kind: 'token', name: nameOrId, place: ({ id }) => id }).id;
}
