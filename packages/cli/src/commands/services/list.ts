import { Command, Option } from 'commander';
import { watchable, withWatchOption } from '../../input/watch-option.ts';
import { checkEnvironment } from '../../lookup/check-environment.ts';
import { collectItems } from '../../lookup/collect-items.ts';
import type { Cli } from '../../session.ts';
import { serviceColumns } from './columns.ts';

/** `failing`: degraded or unhealthy. */
const STATUSES = ['failing', 'unhealthy', 'degraded', 'healthy', 'unknown'] as const;

interface ListOptions {
  readonly search?: string;
  readonly status?: (typeof STATUSES)[number];
}

/** `gwctl services list` */
export const listServices = (cli: Cli): Command =>
  withWatchOption(new Command('list'))
    .alias('ls')
    .description('List services.')
    .option('--search <text>', 'only those whose name or upstream has this text')
    .addOption(new Option('--status <status>', 'only those with this status').choices(STATUSES))
    .action(
      watchable(cli, async ({ search, status }: ListOptions, command: Command) => {
        const session = cli.open(command);
        const { client, environment } = session;
        const query = {
          limit: 200,
          ...(environment === undefined ? {} : { environment }),
          ...(search === undefined ? {} : { search }),
          ...(status === undefined ? {} : { status }),
        };
        const services = await collectItems(client.list('/v1/services', { params: { query } }));
        if (services.length === 0) await checkEnvironment(session);
        await session.printList(services, serviceColumns, 'services');
      }),
    );
