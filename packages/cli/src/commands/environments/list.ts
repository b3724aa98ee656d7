import { Command } from 'commander';
import { collectItems } from '../../lookup/collect-items.ts';
import type { Cli } from '../../session.ts';

/** `gwctl environments list` */
export const listEnvironments = (cli: Cli): Command =>
  new Command('list')
    .alias('ls')
    .description('List environments.')
    .action(async (_options: object, command: Command) => {
      const session = cli.open(command);
      const params = { query: { limit: 200 } };
      const found = await collectItems(session.client.list('/v1/environments', { params }));
      await session.printList(
        found,
        [
          { title: 'NAME', of: ({ name }) => name },
          { title: 'VERSION', of: ({ config_version }) => config_version },
          { title: 'CREATED', time: true, of: ({ created_at }) => created_at },
          { title: 'ID', wide: true, of: ({ id }) => id },
        ],
        'environments',
      );
    });
