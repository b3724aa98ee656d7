import { Command } from 'commander';
import { checkEnvironment } from '../../lookup/check-environment.ts';
import { collectItems } from '../../lookup/collect-items.ts';
import type { Cli } from '../../session.ts';
import { serviceColumns } from './columns.ts';

/** `gwctl services list` */
export const listServices = (cli: Cli): Command =>
  new Command('list')
    .alias('ls')
    .description('List services.')
    .action(async (_options: object, command: Command) => {
      const session = cli.open(command);
      const { client, environment } = session;
      const query = { limit: 200, ...(environment === undefined ? {} : { environment }) };
      const services = await collectItems(client.list('/v1/services', { params: { query } }));
      if (services.length === 0) await checkEnvironment(session);
      await session.printList(services, serviceColumns, 'services');
    });
