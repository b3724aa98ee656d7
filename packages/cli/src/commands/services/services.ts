import { Command } from 'commander';
import type { Cli } from '../../session.ts';
import { deleteService } from './delete.ts';
import { getService } from './get.ts';
import { serviceHealth } from './health.ts';
import { listServices } from './list.ts';
import { testService } from './test-connections.ts';

/** These need no options for the fields of a service, which take as long to make as all of the rest. */
const WITHOUT_FIELDS = ['list', 'ls', 'get', 'delete', 'rm', 'health', 'test'];

/** `gwctl services …`. @param inner the command within it that is to run; undefined: any of them */
export async function loadServices(inner: string | undefined): Promise<(cli: Cli) => Command> {
  const writing =
    inner !== undefined && WITHOUT_FIELDS.includes(inner)
      ? []
      : [(await import('./create.ts')).createService, (await import('./update.ts')).updateService];
  return (cli) => {
    const group = new Command('services')
      .description('List, show, create, change, delete and test services, and show their health.')
      .addCommand(listServices(cli))
      .addCommand(getService(cli));
    for (const create of writing) group.addCommand(create(cli));
    return group
      .addCommand(deleteService(cli))
      .addCommand(serviceHealth(cli))
      .addCommand(testService(cli));
  };
}
