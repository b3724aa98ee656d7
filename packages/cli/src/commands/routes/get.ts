import { Command } from 'commander';
import { readRoute } from '../../lookup/find-route.ts';
import type { Cli } from '../../session.ts';

/** `gwctl routes get` */
export const getRoute = (cli: Cli): Command =>
  new Command('get')
    .description('Show a route.')
    .argument('<route>', 'the name or id of the route')
    .action(async (nameOrId: string, _options: object, command: Command) => {
      const session = cli.open(command);
      const { body } = await readRoute(session, nameOrId);
      await session.printResource(body.data);
    });
