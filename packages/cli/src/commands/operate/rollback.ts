import { Command } from 'commander';
import { wholeNumber } from '../../input/numbers.ts';
import type { Cli } from '../../session.ts';

/** `gwctl rollback` */
export const rollbackCommand = (cli: Cli): Command =>
  new Command('rollback')
    .summary('Restore a version of the configuration of an environment.')
    .description(
      'Restores the services and routes of a version of an environment. It is published as a new version. ' +
        'gwctl versions lists them.',
    )
    .argument('<version>', 'the number of the version', wholeNumber)
    .action(async (version: number, _options: object, command: Command) => {
      const session = cli.open(command);
      const params = { path: { name: session.requireEnvironment() } };
      const { body } = await session.client.post('/v1/environments/{name}/rollback', {
        params,
        body: { version },
      });
      session.printResource(body.data);
    });
