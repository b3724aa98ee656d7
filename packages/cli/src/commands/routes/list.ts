import { Command, Option } from 'commander';
import { checkEnvironment } from '../../lookup/check-environment.ts';
import { collectItems } from '../../lookup/collect-items.ts';
import { serviceId } from '../../lookup/find-service.ts';
import { resourceNames } from '../../lookup/resource-names.ts';
import type { Cli } from '../../session.ts';
import { routeColumns } from './columns.ts';

interface Options {
  readonly search?: string;
  readonly status?: 'active' | 'disabled';
  readonly service?: string;
}

/** `gwctl routes list` */
export const listRoutes = (cli: Cli): Command =>
  new Command('list')
    .alias('ls')
    .description('List routes.')
    .option('--search <text>', 'only with this text in the name')
    .addOption(
      new Option('--status <status>', 'only with this status').choices(['active', 'disabled']),
    )
    .option('--service <service>', 'only to the service of this name or id')
    .action(async ({ search, status, service }: Options, command: Command) => {
      const session = cli.open(command);
      const { client, environment } = session;
      const query = {
        limit: 200,
        ...(environment === undefined ? {} : { environment }),
        ...(search === undefined ? {} : { search }),
        ...(status === undefined ? {} : { status }),
        ...(service === undefined ? {} : { service_id: await serviceId(session, service) }),
      };
      const routes = await collectItems(client.list('/v1/routes', { params: { query } }));
      if (routes.length === 0) await checkEnvironment(session);
      const nameOf = await resourceNames(
        client,
        session.printsData ? [] : routes.map((route) => route.service_id),
      );
      await session.printList(routes, routeColumns(nameOf), 'routes');
    });
