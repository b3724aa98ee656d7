import type { Session } from '../session.ts';
import { didYouMean } from '@gateway/shared/similar/did-you-mean';
import { collectItems } from './collect-items.ts';
import { idPattern, onlyMatch } from './only-match.ts';

const ID = idPattern('tok');

/**
 * The id of a token that is given by name or id. Tokens of different environments may share a name; then the one of the
 * environment of the command is meant.
 */
export async function tokenId({ client, environment }: Session, nameOrId: string): Promise<string> {
  if (ID.test(nameOrId)) return nameOrId;
  const tokens = await collectItems(
    client.list('/v1/tokens', { params: { query: { limit: 200 } } }),
  );
  const named = tokens.filter(({ name }) => name === nameOrId);
  const here = named.filter(({ environments }) => environments.includes(environment ?? ''));
  const found = named.length > 1 && here.length > 0 ? here : named;
  const place = ({ id, environments }: { id: string; environments: readonly string[] }) =>
    `${id} (${environments.join(', ')})`;
  const hint = didYouMean(
    nameOrId,
    tokens.map((token) => token.name),
  );
  return onlyMatch(found, { kind: 'token', name: nameOrId, place, hint }).id;
}
