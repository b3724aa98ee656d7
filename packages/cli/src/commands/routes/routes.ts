import { Command } from 'commander';
import type { Cli } from '../../session.ts';
import { deleteRoute } from './delete.ts';
import { getRoute } from './get.ts';
import { listRoutes } from './list.ts';

/** These need no options for the fields of a route, which take as long to make as all of the rest. */
const WITHOUT_FIELDS = ['list', 'ls', 'get', 'delete', 'rm'];

/** `gwctl routes …`. @param inner the command within it that is to run; undefined: any of them */
export async function loadRoutes(inner: string | undefined): Promise<(cli: Cli) => Command> {
  const writing =
    inner !== undefined && WITHOUT_FIELDS.includes(inner)
      ? []
      : [(await import('./create.ts')).createRoute, (await import('./update.ts')).updateRoute];
  return (cli) => {
    const group = new Command('routes')
      .description('List, show, create, change and delete routes.')
      .addCommand(listRoutes(cli))
      .addCommand(getRoute(cli));
    for (const create of writing) group.addCommand(create(cli));
    return group.addCommand(deleteRoute(cli));
  };
}
