import { Command } from 'commander';
import { wholeNumber } from '../../input/numbers.ts';
import { collectItems } from '../../lookup/collect-items.ts';
import type { Cli } from '../../session.ts';

interface Options {
  readonly limit: number;
}

/** `gwctl versions` */
export const versionsCommand = (cli: Cli): Command =>
  new Command('versions')
    .summary('List the versions of the configuration of an environment, newest first.')
    .description(
      'Lists the versions of the configuration of an environment, newest first. The current one is marked with *. ' +
        'A former one is of a deleted environment that had the name before; it cannot be restored.',
    )
    .option('--limit <count>', 'how many at most', wholeNumber, 20)
    .action(async ({ limit }: Options, command: Command) => {
      const session = cli.open(command);
      const params = { path: { name: session.requireEnvironment() }, query: { limit: 200 } };
      const list = session.client.list('/v1/environments/{name}/versions', { params });
      session.printList(await collectItems(list, limit), [
        { title: 'VERSION', of: ({ version }) => version },
        { title: 'CURRENT', of: ({ current, former }) => (current ? '*' : former ? 'former' : '') },
        { title: 'PUBLISHED', of: ({ published_at }) => published_at },
        { title: 'REASON', of: ({ reason }) => reason },
        { title: 'CHANGES', of: ({ changes }) => changes },
        { title: 'CHANGED BY', wide: true, of: ({ changed_by }) => changed_by.join(', ') },
      ]);
    });
