import { Command } from 'commander';
import { routeId } from '../../lookup/find-route.ts';
import type { Cli } from '../../session.ts';

/** `gwctl routes delete` */
export const deleteRoute = (cli: Cli): Command =>
  new Command('delete')
    .description('Delete a route.')
    .argument('<route>', 'the name or id of the route')
    .action(async (nameOrId: string, _options: object, command: Command) => {
      const session = cli.open(command);
      const id = await routeId(session, nameOrId);
      await session.client.delete('/v1/routes/{id}', { params: { path: { id } } });
      session.note(`Route ${nameOrId} is deleted.`);
    });
