import { changedResourcesText, versionReason } from '@gateway/client/version-text';
import { Command } from 'commander';
import { wholeNumber } from '../../input/numbers.ts';
import { collectItems, pageSize } from '../../lookup/collect-items.ts';
import { resourceNames } from '../../lookup/resource-names.ts';
import type { Cli } from '../../session.ts';

interface Options {
  readonly limit: number;
}

/** How many resources a line names. */
const SHOWN_RESOURCES = 2;
/** As many as the API names. */
const ALL_RESOURCES = 10;

/** `gwctl versions list` */
export const listVersions = (cli: Cli): Command =>
  new Command('list')
    .alias('ls')
    .summary('List the versions of the configuration of an environment, newest first.')
    .description(
      'Lists the versions of the configuration of an environment, newest first. The current one is marked with *. ' +
        'A former one is of a deleted environment that had the name before; it cannot be restored.',
    )
    .option('--limit <count>', 'how many at most', wholeNumber, 20)
    .action(async ({ limit }: Options, command: Command) => {
      const session = cli.open(command);
      const path = { name: session.requireEnvironment() };
      const params = { path, query: { limit: pageSize(limit) } };
      const list = session.client.list('/v1/environments/{name}/versions', { params });
      const versions = await collectItems(list, limit);
      const isWide = session.output === 'wide';
      const shown = isWide ? ALL_RESOURCES : SHOWN_RESOURCES;
      const nameOf = await resourceNames(
        session.client,
        isWide ? versions.flatMap((one) => one.changed_by) : [],
      );
      await session.printList(
        versions,
        [
          { title: 'VERSION', of: ({ version }) => version },
          {
            title: 'CURRENT',
            of: ({ current, former }) => (current ? '*' : former ? 'former' : ''),
          },
          { title: 'PUBLISHED', time: true, of: ({ published_at }) => published_at },
          { title: 'REASON', of: versionReason },
          { title: 'CHANGES', of: ({ changes }) => changes },
          {
            title: 'CHANGED BY',
            wide: true,
            of: ({ changed_by }) => changed_by.map(nameOf).join(', '),
          },
          {
            title: 'SERVICES AND ROUTES',
            shrinks: 12,
            of: (version) => changedResourcesText(version, shown),
          },
        ],
        'versions',
      );
    });
