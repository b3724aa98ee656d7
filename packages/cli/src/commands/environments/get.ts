import { Command } from 'commander';
import type { Cli } from '../../session.ts';

/** `gwctl environments get` */
export const getEnvironment = (cli: Cli): Command =>
  new Command('get')
    .description('Show an environment.')
    .argument('<environment>', 'the name of the environment')
    .action(async (name: string, _options: object, command: Command) => {
      const session = cli.open(command);
      const params = { path: { name } };
      const { body } = await session.client.get('/v1/environments/{name}', { params });
      await session.printResource(body.data);
    });
