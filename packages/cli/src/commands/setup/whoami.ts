import { Command } from 'commander';
import type { Cli } from '../../session.ts';

/** `gwctl whoami` */
export const whoamiCommand = (cli: Cli): Command =>
  new Command('whoami')
    .summary('Show the token of the context and what it may do.')
    .description('Shows the token of the context and what it may do, without its secret.')
    .action(async (_options: object, command: Command) => {
      const session = cli.open(command);
      const { body } = await session.client.get('/v1/whoami');
      session.printResource(body.data);
    });
