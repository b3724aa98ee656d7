import { Command } from 'commander';
import { wholeNumber } from '../../input/numbers.ts';
import type { Cli } from '../../session.ts';

interface Options {
  readonly ifVersion?: number;
}

/** `gwctl rollback` */
export const rollbackCommand = (cli: Cli): Command =>
  new Command('rollback')
    .summary('Restore a version of the configuration of an environment.')
    .description(
      'Restores the services and routes of a version of an environment. It is published as a new version. ' +
        'gwctl versions lists them. With --if-version nothing is changed if another version was published meanwhile.',
    )
    .argument('<version>', 'the number of the version', wholeNumber)
    .option('--if-version <number>', 'the newest version, whose difference you read', wholeNumber)
    .action(async (version: number, { ifVersion }: Options, command: Command) => {
      const session = cli.open(command);
      const header = ifVersion === undefined ? {} : { 'If-Match': `"${ifVersion}"` };
      const params = { path: { name: session.requireEnvironment() }, header };
      const { body } = await session.client.post('/v1/environments/{name}/rollback', {
        params,
        body: { version },
      });
      session.printResource(body.data);
    });
