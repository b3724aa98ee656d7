import { Command } from 'commander';
import type { Cli } from '../../session.ts';

/** `gwctl environments create` */
export const createEnvironment = (cli: Cli): Command =>
  new Command('create')
    .description('Create an environment.')
    .argument('<name>', 'the name of the environment')
    .action(async (name: string, _options: object, command: Command) => {
      const session = cli.open(command);
      const { body } = await session.client.post('/v1/environments', { body: { name } });
      await session.printResource(body.data);
    });
