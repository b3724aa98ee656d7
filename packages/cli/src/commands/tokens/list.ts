import type { components } from '@gateway/client';
import { Command } from 'commander';
import { collectItems } from '../../lookup/collect-items.ts';
import { resourceNames, type NameOf } from '../../lookup/resource-names.ts';
import type { Column } from '../../output/table.ts';
import type { Cli, Session } from '../../session.ts';

type Token = components['schemas']['Token'];

/** `gwctl tokens list` */
export const listTokens = (cli: Cli): Command =>
  new Command('list')
    .alias('ls')
    .summary('List tokens.')
    .description('Lists tokens, without their secrets.')
    .action(async (_options: object, command: Command) => {
      const session = cli.open(command);
      const query = { limit: 200 };
      const tokens = await collectItems(session.client.list('/v1/tokens', { params: { query } }));
      await session.printList(tokens, columns(await createdBy(session, tokens)), 'tokens');
    });

/** The names of the tokens that created these: most of them are in the list. */
async function createdBy({ client, output }: Session, tokens: readonly Token[]): Promise<NameOf> {
  if (output !== 'wide') return (id) => id ?? null;
  const names = new Map(tokens.map(({ id, name }) => [id, name]));
  const others = tokens.map((token) => token.created_by).filter((id) => !names.has(id ?? ''));
  const nameOf = await resourceNames(client, others);
  return (id) => names.get(id ?? '') ?? nameOf(id);
}

const columns = (nameOf: NameOf): readonly Column<Token>[] => [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'ENVIRONMENTS', shrinks: 12, of: ({ environments }) => environments.join(',') },
  { title: 'ROUTES', shrinks: 12, of: ({ routes }) => routes.join(',') },
  { title: 'SCOPES', shrinks: 12, of: ({ scopes }) => scopes.join(',') },
  { title: 'EXPIRES', time: true, of: ({ expires_at }) => expires_at ?? 'never' },
  { title: 'ID', wide: true, of: ({ id }) => id },
  { title: 'LAST USED', wide: true, of: ({ last_used_at }) => last_used_at },
  { title: 'CREATED BY', wide: true, of: ({ created_by }) => nameOf(created_by) },
];
