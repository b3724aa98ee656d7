import { Command } from 'commander';
import { collectItems } from '../../lookup/collect-items.ts';
import type { Cli } from '../../session.ts';
import { routeColumns } from './columns.ts';

/** `gwctl routes list` */
export const listRoutes = (cli: Cli): Command =>
  new Command('list')
    .description('List routes.')
    .action(async (_options: object, command: Command) => {
      const session = cli.open(command);
      const { client, environment } = session;
      const query = { limit: 200, ...(environment === undefined ? {} : { environment }) };
      const routes = await collectItems(client.list('/v1/routes', { params: { query } }));
      session.printList(routes, routeColumns);
    });
