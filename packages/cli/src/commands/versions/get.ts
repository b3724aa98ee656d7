import { Command } from 'commander';
import { wholeNumber } from '../../input/numbers.ts';
import type { Cli } from '../../session.ts';

/** `gwctl versions get` */
export const getVersion = (cli: Cli): Command =>
  new Command('get')
    .summary('Show a version.')
    .description(
      'Shows when, why and by whom a version of the configuration of an environment was made, and the first services ' +
        'and routes that it changed.',
    )
    .argument('<version>', 'the number of the version', wholeNumber)
    .action(async (version: number, _options: object, command: Command) => {
      const session = cli.open(command);
      const params = { path: { name: session.requireEnvironment(), version } };
      const { body } = await session.client.get('/v1/environments/{name}/versions/{version}', {
        params,
      });
      await session.printResource(body.data);
    });
