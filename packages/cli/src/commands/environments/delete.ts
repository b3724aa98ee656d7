import { Command } from 'commander';
import type { Cli } from '../../session.ts';

/** `gwctl environments delete` */
export const deleteEnvironment = (cli: Cli): Command =>
  new Command('delete')
    .summary('Delete an empty environment.')
    .description('Deletes an environment that has no services, routes and tokens of its own.')
    .argument('<name>', 'the name of the environment')
    .action(async (name: string, _options: object, command: Command) => {
      const session = cli.open(command);
      await session.client.delete('/v1/environments/{name}', { params: { path: { name } } });
      session.note(`Environment ${name} is deleted.`);
    });
