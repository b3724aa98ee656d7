import { Command } from 'commander';
import { serviceId } from '../../lookup/find-service.ts';
import type { Cli } from '../../session.ts';

/** `gwctl services delete` */
export const deleteService = (cli: Cli): Command =>
  new Command('delete')
    .summary('Delete a service.')
    .description('Deletes a service. A service that a route names cannot be deleted.')
    .argument('<service>', 'the name or id of the service')
    .action(async (nameOrId: string, _options: object, command: Command) => {
      const session = cli.open(command);
      const id = await serviceId(session, nameOrId);
      await session.client.delete('/v1/services/{id}', { params: { path: { id } } });
      session.note(`Service ${nameOrId} is deleted.`);
    });
