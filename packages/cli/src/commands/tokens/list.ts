import type { components } from '@gateway/client';
import { Command } from 'commander';
import { collectItems } from '../../lookup/collect-items.ts';
import type { Column } from '../../output/table.ts';
import type { Cli } from '../../session.ts';

type Token = components['schemas']['Token'];

/** `gwctl tokens list` */
export const listTokens = (cli: Cli): Command =>
  new Command('list')
    .summary('List tokens.')
    .description('Lists tokens, without their secrets.')
    .action(async (_options: object, command: Command) => {
      const session = cli.open(command);
      const query = { limit: 200 };
      const tokens = await collectItems(session.client.list('/v1/tokens', { params: { query } }));
      session.printList(tokens, columns);
    });

const columns: readonly Column<Token>[] = [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'ENVIRONMENTS', of: ({ environments }) => environments.join(',') },
  { title: 'ROUTES', of: ({ routes }) => routes.join(',') },
  { title: 'SCOPES', of: ({ scopes }) => scopes.join(',') },
  { title: 'EXPIRES', of: ({ expires_at }) => expires_at ?? 'never' },
  { title: 'ID', wide: true, of: ({ id }) => id },
  { title: 'LAST USED', wide: true, of: ({ last_used_at }) => last_used_at },
  { title: 'CREATED BY', wide: true, of: ({ created_by }) => created_by },
];
