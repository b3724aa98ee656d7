import { Command } from 'commander';
import { readService } from '../../lookup/find-service.ts';
import type { Cli } from '../../session.ts';

/** `gwctl services get` */
export const getService = (cli: Cli): Command =>
  new Command('get')
    .description('Show a service.')
    .argument('<service>', 'the name or id of the service')
    .action(async (nameOrId: string, _options: object, command: Command) => {
      const session = cli.open(command);
      const { body } = await readService(session, nameOrId);
      await session.printResource(body.data);
    });
