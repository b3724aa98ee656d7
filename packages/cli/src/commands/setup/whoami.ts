import { Command } from 'commander';
import type { Cli } from '../../session.ts';

/** `gwctl whoami` */
export const whoamiCommand = (cli: Cli): Command =>
  new Command('whoami')
    .description(
      'Shows the gateway and the token of the context, and what the token may do, without its secret.',
    )
    .action(async (_options: object, command: Command) => {
      const session = cli.open(command);
      const { body } = await session.client.get('/v1/whoami');
      const { output, url } = session;
      const isForPeople = output === 'table' || output === 'wide';
      await session.printResource(isForPeople ? { gateway: url, ...body.data } : body.data);
    });
