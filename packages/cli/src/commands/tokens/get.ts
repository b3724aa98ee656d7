import { Command } from 'commander';
import { tokenId } from '../../lookup/find-token.ts';
import type { Cli } from '../../session.ts';

/** `gwctl tokens get` */
export const getToken = (cli: Cli): Command =>
  new Command('get')
    .summary('Show a token.')
    .description('Shows a token, without its secret.')
    .argument('<token>', 'the name or id of the token')
    .action(async (nameOrId: string, _options: object, command: Command) => {
      const session = cli.open(command);
      const id = await tokenId(session, nameOrId);
      const { body } = await session.client.get('/v1/tokens/{id}', { params: { path: { id } } });
      await session.printResource(body.data);
    });
